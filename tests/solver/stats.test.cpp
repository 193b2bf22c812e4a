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
  CHECK(sizeof(shared_counters) % (64 * counter_copies::size) == 0);
  CHECK(alignof(shared_counters) == 64);
}

TEST_CASE("there is a name for each state that is counted, and for no other") {
  for (std::size_t i = 0; i < state_count; ++i)
    CHECK(to_string(static_cast<state>(i)) != "unknown");
  CHECK(to_string(static_cast<state>(state_count)) == "unknown");
}

TEST_CASE("a time is counted within the first limit that it does not exceed") {
  CHECK(method_stats::place_of(0) == 0);
  CHECK(method_stats::place_of(1'000) == 0);
  CHECK(method_stats::place_of(1'001) == 1);
  std::uint64_t limit = 1'000;
  for (std::size_t k = 0; k < method_stats::limits; ++k) {
    CAPTURE(limit);
    CHECK(method_stats::place_of(limit) == k);
    CHECK(method_stats::place_of(limit + 1) == k + 1);
    limit *= 4;
  }
  CHECK(method_stats::place_of(~std::uint64_t{0}) == method_stats::limits);
}

TEST_CASE("solves of ten threads are counted by method and state without a loss") {
  method_counters counters;
  const auto last = all_methods().back();
  std::vector<std::thread> threads;
  for (int t = 0; t < 10; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        counters.add(last, state::budget_exhausted, 3'000);
        counters.add(method::neumann, state::converged, 500);
      }
    });
  for (auto& t : threads)
    t.join();
  const auto all = counters.get();
  REQUIRE(all.size() == all_methods().size());
  const auto place = [](state s) { return static_cast<std::size_t>(s); };
  CHECK(all.back().method == last);
  CHECK(all.back().ended[place(state::budget_exhausted)] == 10'000);
  CHECK(all.back().ended[place(state::converged)] == 0);
  CHECK(all.back().took[1] == 10'000);
  CHECK(all.back().latency_ns == 30'000'000);
  const auto total = counters.total();
  CHECK(total.ended[place(state::converged)] == 10'000);
  CHECK(total.took[0] == 10'000);
  CHECK(total.latency_ns == 35'000'000);
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
