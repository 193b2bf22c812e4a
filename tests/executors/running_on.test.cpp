// Executors that look for work leave the CPU to one of the process that is to run on it.

#include <basal/executors/completion.hpp>
#include <basal/executors/detail/running_on.hpp>
#include <basal/executors/executor_pool.hpp>

#include "begin_threads.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>

using namespace basal::executors;

TEST_CASE("an executor counts where it was last seen to run, and nowhere once it has left") {
  auto census = std::make_unique<cpu_census>();
  {
    running_on first{*census};
    running_on second{*census};
    CHECK_FALSE(census->anybody_on(3));
    first.be_on(3);
    second.be_on(3);
    CHECK(census->anybody_on(3));
    first.be_on(3); // still
    first.be_on(5);
    CHECK(census->anybody_on(3));
    CHECK(census->anybody_on(5));
    second.leave();
    second.leave();
    CHECK_FALSE(census->anybody_on(3));
  }
  CHECK_FALSE(census->anybody_on(5));
}

TEST_CASE("CPUs beyond the last are counted, too") {
  auto census = std::make_unique<cpu_census>();
  running_on one{*census};
  one.be_on(cpu_census::max_cpus + 7);
  CHECK(census->anybody_on(cpu_census::max_cpus + 7));
}

namespace {

std::atomic<bool> all_on_one{false};

/// A pool whose executors would look for an hour, on what seems to be a CPU of its own for each, or
/// the same for all.
pool_config looking_for_long() {
  pool_config config;
  config.executors = 2;
  config.spin = std::chrono::nanoseconds{10};
  config.simulate.ticks = []() noexcept -> std::uint64_t {
    thread_local std::uint64_t time = 1; // so no look is far from the one before
    return ++time;
  };
  config.simulate.cpu = []() noexcept -> unsigned {
    static std::atomic<unsigned> threads{0};
    thread_local const unsigned own = 100 + threads++;
    return all_on_one ? 99 : own;
  };
  config.hooks.lingers = [](void*, executor&) noexcept { return std::uint64_t{1} << 60; };
  return config;
}

/// Runs until it is told to end.
struct long_task {
  completion begun;
  std::atomic<bool> end{false};
  completion ended;
  inbox_node node{nullptr, {this, &ops}};

  static void run(void* object, executor&) noexcept;
  static constexpr work_ops ops{&run, nullptr};
};

void long_task::run(void* object, executor&) noexcept {
  auto& self = *static_cast<long_task*>(object);
  self.begun.set();
  while (!self.end)
    std::this_thread::yield();
  self.ended.set();
}

} // namespace

TEST_CASE("who looks for work on the CPU of an executor that runs sleeps, and else looks on") {
  if (usable_cpus() < 2)
    return; // nobody looks on one CPU
  all_on_one = true;
  executor_pool pool{looking_for_long()};
  long_task task;
  while (!pool.claim_idle(0))
    std::this_thread::yield();
  pool.deliver_claimed(pool.at(0), task.node);
  task.begun.wait();
  pool.rouse();
  // It goes back to sleep, although it would look for long.
  while (pool.at(1).stats().times_parked < 1 || pool.any_looking())
    std::this_thread::yield();
  all_on_one = false;
  pool.rouse();
  while (pool.at(1).stats().times_parked < 2)
    std::this_thread::yield();
  for (int i = 0; i < 1000; ++i)
    std::this_thread::yield();
  CHECK(pool.any_looking());
  task.end = true;
  task.ended.wait();
}
