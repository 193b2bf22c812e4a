// An executor's counters, to the unit, for a run of which everything is known.

#include "stepped_pool.hpp"
#include "support/catch.hpp"

#include <chrono>
#include <thread>
#include <vector>

using namespace basal::executors;
using namespace std::chrono_literals;

TEST_CASE("an executor's states have all of its time") {
  const auto start = std::chrono::steady_clock::now();
  pool_config config;
  config.executors = 1;
  executor_pool pool{config};
  while (pool.at(0).stats().parked_ns == 0) // until its thread has begun, and sleeps
    std::this_thread::yield();
  const auto first = pool.at(0).stats();
  std::this_thread::sleep_for(30ms);
  const auto second = pool.at(0).stats();
  const auto sum
    = [](const executor_stats& x) { return x.running_ns + x.looking_ns + x.parked_ns; };
  CHECK(second.parked_ns > first.parked_ns);     // nobody had to wake it for that
  CHECK(sum(second) >= sum(first) + 29'000'000); // ticks are right to some 10^-4
  CHECK(std::chrono::nanoseconds{sum(second)} < 2 * (std::chrono::steady_clock::now() - start));
}

TEST_CASE("every item that ran is counted, and once more by where it came from") {
  auto config = stepped(2);
  config.newest_ops = &task::ops;
  executor_pool pool{config};
  std::vector<inbox_node> letters(2);
  for (auto& letter : letters)
    letter.item = nothing_special();
  // One item from outside makes seven more.
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (auto& letter : letters)
      self.push_pinned(letter);
    for (int i = 0; i < 4; ++i)
      self.push_back(nothing_special());
    self.push_newest(nothing_special());
  })));
  for (int i = 0; i < 2; ++i) // the one from outside, the newest
    CHECK(pool.step(0));
  auto first = pool.at(0).stats();
  CHECK(first.tasks_run == 2);
  CHECK(first.injection_hits == 1);
  CHECK(first.injection_batches == 1);
  CHECK(first.lifo_hits == 1);
  CHECK(first.deliveries == 0);
  for (int i = 0; i < 2; ++i) // two of the ring
    CHECK(pool.step(1));
  for (int i = 0; i < 4; ++i) // the others, and the letters
    CHECK(pool.step(0));
  CHECK_FALSE(pool.step(0));
  CHECK_FALSE(pool.step(1));
  first = pool.at(0).stats();
  const auto second = pool.at(1).stats();
  CHECK(first.tasks_run + second.tasks_run == 8);
  CHECK(second.tasks_stolen == 2);
  CHECK(second.tasks_run == 2);
  CHECK(first.deliveries == 2);
  CHECK(first.lifo_hits == 1);
  CHECK(first.injection_hits == 1);
  CHECK(first.tasks_stolen == 0);
  for (const auto& s : {first, second}) {
    CHECK(s.times_parked == 1);
    CHECK(s.wake_ups == 0);
    CHECK(s.overflows == 0);
    CHECK(s.fibers_created == 0);
    CHECK(s.suspensions == 0);
    CHECK(s.background_turns == 0);
    CHECK(s.overruns == 0);
    CHECK(s.quantum_ends == 0);
  }
}

TEST_CASE("stacks are counted when they are made, suspensions each time") {
  executor_pool pool{stepped(1)};
  completion events[3];
  for (auto& event : events)
    REQUIRE(pool.submit(task::make([&](executor&) { event.wait(); })));
  pool.run_until_idle();
  CHECK(pool.at(0).stats().suspensions == 3);
  CHECK(pool.at(0).stats().fibers_created == 3); // the first one is made with the pool
  for (auto& event : events)
    event.set();
  pool.run_until_idle();
  CHECK(pool.at(0).stats().deliveries == 3);
  CHECK(pool.at(0).stats().tasks_run == 6);
  REQUIRE(pool.submit(task::make([](executor& self) {
    self.push_back(nothing_special());
    self.yield();
  })));
  pool.run_until_idle();
  CHECK(pool.at(0).stats().suspensions == 4);
  CHECK(pool.at(0).stats().fibers_created == 3); // used again
}

TEST_CASE("the end of a quantum is counted when the work says so, an overrun by itself") {
  executor_pool pool{stepped(1)};
  REQUIRE(pool.submit(task::make([](executor& self) {
    self.count_quantum_end();
    self.look(self.now());
    for (auto length : {199us, 201us, 601us}) {
      pass(length);
      self.look(self.now());
    }
    self.count_quantum_end();
  })));
  pool.run_until_idle();
  const auto s = pool.at(0).stats();
  CHECK(s.quantum_ends == 2);
  CHECK(s.overruns == 2);
  CHECK(s.overrun_quanta == 1 + 3);
}

TEST_CASE("what waits is counted wherever it waits") {
  auto config = stepped(3);
  config.newest_ops = &task::ops;
  executor_pool pool{config};
  CHECK_FALSE(pool.step(2)); // sleeps
  CHECK(pool.num_runnable() == 2);
  for (int i = 0; i < 3; ++i)
    REQUIRE(pool.submit(nothing_special()));
  CHECK(pool.num_runnable() == 3 + 3);
  REQUIRE(pool.submit(task::make([&](executor& self) {
    self.push_newest(nothing_special());
    self.push_back(nothing_special());
    CHECK(self.num_waiting() == 2);
    CHECK(pool.num_runnable() == 2 + 3);
  })));
  pool.run_until_idle();
  CHECK(pool.num_runnable() == 0);
}
