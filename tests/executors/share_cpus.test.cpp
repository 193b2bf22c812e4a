// How many executors short work keeps awake, and when long work is seen to keep it waiting. Pools
// that take steps: their clock is the test's, a thread's CPU time is the kernel's count.

#include "backstop.hpp"
#include "closure_task.hpp"
#include "stepped_pool.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <thread>

using namespace basal::executors;
using namespace std::chrono_literals;

namespace {

constexpr auto quantum = 10ms; ///< more than a few steps take, even in a sanitizer's build

pool_config sharing(std::size_t cpus) {
  auto config = stepped(4);
  config.quantum = quantum;
  config.share_cpus = cpus;
  return config;
}

/// Lets each executor that is awake end its search, with work left behind it.
void add_work(executor_pool& pool) {
  for (int i = 0; i < 8; ++i)
    REQUIRE(pool.submit(nothing_special()));
  for (std::size_t i = 0; i < pool.size(); ++i)
    if (!pool.is_idle(i))
      pool.step(i);
}

/// The work that runs has the CPU for `time`.
void take_cpu(std::chrono::nanoseconds time) {
  const auto cpu_ns = [] { return cpu_use::of_this_thread(0).cpu_ns; };
  const auto before = cpu_ns();
  while (cpu_ns() - before < time.count()) {
  }
}

/// And looks up then.
void compute(executor& self, std::chrono::nanoseconds time) {
  take_cpu(time);
  pass(time);
  self.look(self.now());
}

/// Does `something` until the pool sees long work, should the test itself lose the CPU.
/// @returns whether it does
template <class Something>
bool is_seen(const executor_pool& pool, Something something) {
  for (int round = 0; round < 100 && !pool.work_takes_long(); ++round)
    something();
  return pool.work_takes_long();
}

} // namespace

TEST_CASE("short work keeps as many executors awake as there are CPUs") {
  const auto cpus = GENERATE(std::size_t{1}, std::size_t{2}, std::size_t{3});
  executor_pool pool{sharing(cpus)};
  pool.run_until_idle();
  add_work(pool);
  CHECK(num_awake(pool) == cpus);
  CHECK_FALSE(pool.work_takes_long());
  pool.run_until_idle();
}

TEST_CASE("as many executors as CPUs are all woken, whatever the hook says") {
  auto config = sharing(4);
  config.hooks.has_cpu = [](void*) noexcept { return false; };
  executor_pool pool{config};
  pool.run_until_idle();
  add_work(pool);
  CHECK(num_awake(pool) == 4);
  pool.run_until_idle();
}

TEST_CASE("without a number of CPUs, work wakes whoever sleeps") {
  executor_pool pool{sharing(0)};
  pool.run_until_idle();
  add_work(pool);
  CHECK(num_awake(pool) == 4);
  pool.run_until_idle();
}

TEST_CASE("a hook may know of a CPU beyond that number") {
  auto config = sharing(1);
  config.hooks.has_cpu = [](void*) noexcept { return true; };
  executor_pool pool{config};
  pool.run_until_idle();
  add_work(pool);
  CHECK(num_awake(pool) == 4);
  pool.run_until_idle();
}

TEST_CASE("work that has the only CPU for longer than a quantum keeps others waiting") {
  executor_pool pool{sharing(1)};
  pool.run_until_idle();
  REQUIRE(pool.submit(task::make(
    [&](executor& self) { CHECK(is_seen(pool, [&] { compute(self, 2 * quantum); })); })));
  pool.run_until_idle();
  add_work(pool);
  CHECK(num_awake(pool) == 4);
  pool.run_until_idle();
}

TEST_CASE("work whose thread had no CPU does not") {
  executor_pool pool{sharing(1)};
  pool.run_until_idle();
  REQUIRE(pool.submit(task::make([](executor& self) {
    pass(20 * quantum); // and the kernel has counted next to nothing
    self.look(self.now());
  })));
  pool.run_until_idle();
  CHECK(pool.at(0).stats().overruns == 1);
  CHECK_FALSE(pool.work_takes_long());
}

TEST_CASE("of two CPUs, long work on one leaves the other one to the rest") {
  executor_pool pool{sharing(2)};
  pool.run_until_idle();
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (int i = 0; i < 3; ++i)
      compute(self, 2 * quantum);
  })));
  pool.run_until_idle();
  CHECK(pool.at(0).stats().overruns == 3);
  CHECK_FALSE(pool.work_takes_long());
}

TEST_CASE("long work on both of two CPUs keeps others waiting, if at the same time") {
  const auto apart = GENERATE(0ns, std::chrono::nanoseconds{quantum}, 3 * quantum);
  executor_pool pool{sharing(2)};
  pool.run_until_idle();
  int rounds = 0;
  do { // should the test itself lose the CPU
    // Both take three quanta by a clock that one thread moves to and fro.
    const auto begin = time_now;
    inbox_node first{nullptr, task::make([&](executor& self) { compute(self, 3 * quantum); })};
    inbox_node second{nullptr, task::make([&](executor& self) { compute(self, 3 * quantum); })};
    pool.at(0).deliver(first);
    while (!pool.is_idle(0))
      pool.step(0);
    const auto end = time_now;
    time_now = begin + tick_clock::to_ticks(apart);
    pool.at(1).deliver(second);
    while (!pool.is_idle(1))
      pool.step(1);
    time_now = std::max(time_now, end) + tick_clock::to_ticks(quantum);
  } while (apart < 3 * quantum && !pool.work_takes_long() && ++rounds < 100);
  CHECK(pool.work_takes_long() == (apart < 3 * quantum));
}

TEST_CASE("work that has blocked its thread has left a CPU unused, whatever the others do") {
  executor_pool pool{sharing(2)};
  pool.run_until_idle();
  REQUIRE(pool.submit(task::make([&](executor& self) {
    CHECK(is_seen(pool, [&] {
      std::this_thread::sleep_for(100us);
      pass(2 * quantum);
      self.look(self.now());
    }));
  })));
  pool.run_until_idle();
  CHECK(pool.work_takes_long());
}

TEST_CASE("without a number of CPUs, nobody asks what takes long") {
  executor_pool pool{sharing(0)};
  pool.run_until_idle();
  REQUIRE(pool.submit(task::make([&](executor& self) { compute(self, 2 * quantum); })));
  pool.run_until_idle();
  CHECK_FALSE(pool.work_takes_long());
}

TEST_CASE("once work takes long, what has waited has an executor at once") {
  executor_pool pool{sharing(1)};
  pool.run_until_idle();
  REQUIRE(pool.submit(task::make([&](executor& self) {
    self.push_back(nothing_special());
    CHECK(num_awake(pool) == 1);
    CHECK(is_seen(pool, [&] { compute(self, 2 * quantum); }));
    CHECK(num_awake(pool) == 2);
  })));
  pool.run_until_idle();
}

TEST_CASE("the backstop sees long work that has not ended, and forgets it in time") {
  executor_pool pool{sharing(1)};
  pool.run_until_idle();
  backstop clock{pool};
  REQUIRE(pool.submit(task::make([&](executor&) {
    clock.look_around();
    CHECK_FALSE(pool.work_takes_long());
    clock.look_around();
    CHECK_FALSE(pool.work_takes_long()); // its thread had no CPU to speak of
    take_cpu(5ms);
    clock.look_around();
    CHECK(pool.work_takes_long());
  })));
  pool.run_until_idle();
  for (int i = 0; i < backstop::ticks_to_remember(10ms) - 1; ++i)
    clock.look_around();
  CHECK(pool.work_takes_long());
  clock.look_around();
  CHECK_FALSE(pool.work_takes_long());
}

TEST_CASE("work that waits again and again, each time briefly, is seen by the backstop alone") {
  executor_pool pool{sharing(1)};
  pool.run_until_idle();
  backstop clock{pool};
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (int round = 0; round < 20 && !pool.work_takes_long(); ++round) { // it may lose the CPU
      clock.look_around();
      for (int i = 0; i < 105; ++i) // in less CPU time than long work takes
        std::this_thread::sleep_for(1us);
      pass(quantum + 100us); // less than 100 us each
      self.look(self.now());
      CHECK_FALSE(pool.work_takes_long());
      clock.look_around();
    }
    CHECK(pool.work_takes_long());
  })));
  pool.run_until_idle();
}

TEST_CASE("a CPU is unused where executors wait for longer than the others need it") {
  CHECK_FALSE(backstop::leave_cpu_unused(1, 2, 100, 100)); // there is a CPU anyway
  CHECK_FALSE(backstop::leave_cpu_unused(2, 2, 50, 100));
  CHECK(backstop::leave_cpu_unused(2, 2, 51, 100));
  CHECK_FALSE(backstop::leave_cpu_unused(4, 2, 250, 100)); // the other two had them
  CHECK(backstop::leave_cpu_unused(4, 2, 251, 100));
}

TEST_CASE("on one of two CPUs, long work that has not ended counts beside long work that has") {
  executor_pool pool{sharing(2)};
  pool.run_until_idle();
  backstop clock{pool};
  inbox_node other{nullptr, task::make([&](executor& self) {
                     CHECK(is_seen(pool, [&] { compute(self, 2 * quantum); }));
                   })};
  REQUIRE(pool.submit(task::make([&](executor&) {
    clock.look_around();
    take_cpu(5ms);
    clock.look_around();
    CHECK_FALSE(pool.work_takes_long());
    pool.at(1).deliver(other);
    while (!pool.is_idle(1))
      pool.step(1);
    CHECK(pool.work_takes_long());
  })));
  pool.run_until_idle();
}

TEST_CASE("long work is remembered for 64 times its duration, and for a second at most") {
  CHECK(backstop::ticks_to_remember(1ns) == 1);
  CHECK(backstop::ticks_to_remember(5ms) == 64);
  CHECK(backstop::ticks_to_remember(1h) == 200);
}
