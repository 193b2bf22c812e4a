// The purpose of the choosers: slow handlers must not keep message executors from others. Counts
// are asserted, times are not; for times see the benchmarks.

#include "actors/adaptive_fixture.hpp"

#include <caf/send.hpp>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

using basal::mab::event;
using namespace adaptive_tests;
using namespace std::chrono_literals;
using basal::actors::adaptive;
using caf::behavior;
using caf::event_based_actor;

namespace {

/// How many handlers ran where.
struct places {
  std::atomic<int> inline_runs{0};
  std::atomic<int> offloads{0};

  void count(bool is_inline) {
    ++(is_inline ? inline_runs : offloads);
  }

  int all() const {
    return inline_runs + offloads;
  }
};

behavior slow_actor(event_based_actor* me, fixture* f, places* where) {
  return {adaptive(me,
                   [=](int) {
                     where->count(here() == f->messages());
                     burn(3ms);
                   },
                   {.name = "slow"})};
}

void await(const places& where, int count) {
  const auto give_up = std::chrono::steady_clock::now() + patience;
  while (where.all() < count && std::chrono::steady_clock::now() < give_up)
    std::this_thread::sleep_for(1ms);
}

/// Keeps its executor for 3 ms without needing a CPU, so that ten thousand take seconds.
behavior blocking_actor(event_based_actor* me, fixture* f, places* where) {
  return {adaptive(me,
                   [=](int) {
                     where->count(here() == f->messages());
                     std::this_thread::sleep_for(3ms);
                   },
                   {.name = "slow"})};
}

int storm_size() {
  const auto* text = std::getenv("BASAL_STORM_ACTORS");
  return text != nullptr ? std::atoi(text) : 10'000;
}

} // namespace

TEST_CASE("of many new actors with a slow handler, at most one for each executor runs inline") {
  for (const std::size_t executors : {1, 2}) {
    places where; // outlives the actors
    fixture f{executors, 32};
    const int count = storm_size();
    std::vector<caf::actor> all;
    for (int i = 0; i < count; ++i)
      all.push_back(f.system.spawn(blocking_actor, &f, &where));
    for (const auto& one : all)
      caf::anon_send(one, 1);
    await(where, count);
    CHECK(where.all() == count);
    CHECK(where.inline_runs <= static_cast<int>(executors));
    all.clear();
    f.self->await_all_other_actors_done();
    const auto counted = f.stats("slow");
    CHECK(counted.counts[event::finished] == static_cast<std::uint64_t>(count));
    CHECK(counted.counts[event::inline_decision] == static_cast<std::uint64_t>(where.inline_runs));
    CHECK(counted.counts[event::starvation] == counted.counts[event::inline_decision]);
    CHECK(counted.counts[event::abandoned] == 0);
  }
}

TEST_CASE("under 30 % load with slow handlers, at most the first one runs inline") {
  places where;
  fixture f{1, 1};
  auto slow = f.system.spawn(slow_actor, &f, &where);
  auto echo = f.system.spawn([]() -> behavior { return {[](int x) { return x; }}; });
  constexpr int count = 100;
  for (int i = 0; i < count; ++i) {
    caf::anon_send(slow, i);
    // Ten milliseconds, in which four echoes ask for an answer.
    for (int k = 0; k < 4; ++k) {
      CHECK(f.ask<int>(echo, k) == k);
      std::this_thread::sleep_for(2500us);
    }
  }
  await(where, count);
  CHECK(where.all() == count);
  CHECK(where.inline_runs <= 1); // none, if another message waited when the first one came
  slow = nullptr;
  echo = nullptr;
  f.self->await_all_other_actors_done();
  CHECK(f.stats("slow").counts[event::starvation] == static_cast<std::uint64_t>(where.inline_runs));
}
