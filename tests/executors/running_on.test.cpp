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
#include <optional>
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
thread_local bool has_moved = false;
std::atomic<bool> counts_there{false};
std::atomic<int> moves{0};

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
    return all_on_one && !has_moved ? 99 : own;
  };
  config.hooks.lingers = [](void*, executor&) noexcept { return std::uint64_t{1} << 60; };
  return config;
}

/// Runs until it is told to end, on executor 0.
struct long_task {
  explicit long_task(executor_pool& pool) {
    while (!pool.claim_idle(0))
      std::this_thread::yield();
    pool.deliver_claimed(pool.at(0), node);
    begun.wait();
  }

  ~long_task() {
    end = true;
    ended.wait();
  }

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
  const long_task task{pool};
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
}

namespace {

/// A pool that keeps its executors apart, beside one that runs on the only CPU.
struct crowded_pool {
  explicit crowded_pool(pool_config config) : pool(config) {
    all_on_one = false;
    begin_threads(pool);
    all_on_one = true;
    task.emplace(pool);
    while (pool.any_looking())
      std::this_thread::yield();
  }

  ~crowded_pool() {
    task.reset();
    all_on_one = false;
  }

  /// Wakes the other executor, and waits until it looks, or sleeps if it is to.
  void rouse(bool looks) {
    const auto before = pool.at(1).stats().times_parked;
    pool.rouse();
    while (pool.at(1).stats().times_parked == before || pool.any_looking() != looks)
      std::this_thread::yield();
  }

  executor_pool pool;
  std::optional<long_task> task;
};

} // namespace

TEST_CASE("who wakes up on the CPU of an executor that runs moves to one where none does") {
  if (usable_cpus() < 2)
    return;
  auto config = looking_for_long();
  config.keep_apart = GENERATE(true, false);
  config.simulate.move = [](unsigned cpu) noexcept {
    counts_there = cpu != 99 && running_executors.anybody_on(cpu);
    has_moved = true;
    ++moves;
    return true;
  };
  moves = 0;
  counts_there = false;
  crowded_pool crowded{config};
  crowded.rouse(config.keep_apart);
  CHECK(moves == (config.keep_apart ? 1 : 0));
  CHECK(counts_there == config.keep_apart); // so that nobody else goes there, too
}

TEST_CASE("an executor that has moved stays for a while") {
  if (usable_cpus() < 2)
    return;
  auto config = looking_for_long();
  config.keep_apart = true;
  config.simulate.move = [](unsigned) noexcept {
    ++moves; // in vain: the kernel has moved it back
    return true;
  };
  moves = 0;
  crowded_pool crowded{config};
  for (int i = 0; i < 3; ++i)
    crowded.rouse(false);
  CHECK(moves == 1);
}
