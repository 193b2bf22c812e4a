// Pauses of the collected heap in the statistics.

#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/stats.hpp>
#include <basal/executors/detail/collector.hpp>
#include <basal/posse/gc/gc.hpp>

#include <caf/actor_system.hpp>

#include <chrono>
#include <cstdint>
#include <numeric>

#include "support/catch.hpp"

namespace gc = basal::posse::gc;
using basal::executors::collector_pauses;
using basal::executors::time_buckets;

TEST_CASE("pauses are counted by their length, and the longest is kept") {
  collector_pauses x;
  for (const std::uint64_t ns : {900, 70'000, 65'000, 1'500})
    x.add(ns);
  CHECK(x.sum_ns == 137'400);
  CHECK(x.longest_ns == 70'000);
  CHECK(x.buckets[time_buckets::of(900)] == 1);
  CHECK(x.buckets[time_buckets::of(1'500)] == 1);
  CHECK(x.buckets[time_buckets::of(70'000)] == 2);
  CHECK(std::accumulate(x.buckets.begin(), x.buckets.end(), std::uint64_t{0}) == 4);
}

TEST_CASE("statistics have the times for which collections have stopped all threads") {
  basal::actor_system_config cfg;
  cfg.set("basal.message-executors", std::size_t{1});
  cfg.set("basal.compute-executors", std::size_t{1});
  caf::actor_system system{cfg};
  const auto before = basal::actors::stats_of(system).heap_pauses;
  for (int i = 0; i < 5; ++i)
    gc::collect();
  const auto stats = basal::actors::stats_of(system);
  const auto& pauses = stats.heap_pauses;
#ifndef __SANITIZE_THREAD__ // nothing is collected there
  CHECK(pauses.count >= before.count + 5);
  CHECK(pauses.p50_ns > 0);
#endif
  const auto heap = gc::stats();
  CHECK(pauses.sum_ns == static_cast<std::uint64_t>(heap.all_pauses.count()));
  CHECK(stats.heap_longest_pause_ns == static_cast<std::uint64_t>(heap.longest_pause.count()));
  CHECK(pauses.p50_ns <= pauses.p99_ns);
  CHECK(pauses.p99_ns <= 3 * stats.heap_longest_pause_ns);
  REQUIRE(pauses.within.size() == basal::actors::time_limits);
  CHECK(pauses.within.front() <= pauses.within.back());
  CHECK(pauses.within.back() == pauses.count);
}
