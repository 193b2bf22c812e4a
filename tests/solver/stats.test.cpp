#include <basal/solver/stats.hpp>

#include "support/catch.hpp"

#include <thread>
#include <vector>

using namespace basal::solver;

TEST_CASE("ten threads count ten thousand without a loss") {
  shared_counters counters;
  std::vector<std::thread> threads;
  for (int t = 0; t < 10; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i)
        counters.add(counter::ticks);
    });
  for (auto& t : threads)
    t.join();
  CHECK(counters.get(counter::ticks) == 10'000);
  CHECK(counters.get(counter::walks) == 0);
}

TEST_CASE("copies of the counters share no cache line") {
  CHECK(sizeof(shared_counters) % (64 * shared_counters::copies) == 0);
  CHECK(alignof(shared_counters) == 64);
}

TEST_CASE("rates and means are 0 while there is nothing to divide by") {
  solver_stats stats;
  CHECK(stats.convergence_rate() == 0);
  CHECK(stats.ticks_per_solve() == 0);
  CHECK(stats.mean_latency().count() == 0);
  stats.solves_completed = 4;
  stats.converged = 3;
  stats.ticks = 10;
  stats.latency_ns = 1000;
  CHECK(stats.convergence_rate() == 0.75);
  CHECK(stats.ticks_per_solve() == 2.5);
  CHECK(stats.mean_latency().count() == 250);
}
