// Executors that look for work stop when others want their CPU.

#include <basal/executors/detail/shared_cpu.hpp>
#include <basal/executors/detail/tick_clock.hpp>
#include <basal/executors/executor_pool.hpp>

#include "begin_threads.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <thread>

using namespace basal::executors;
using namespace std::chrono_literals;

namespace {

constexpr auto by_a_thread = [] { return true; };
constexpr auto by_the_hypervisor = [] { return false; };

} // namespace

TEST_CASE("an executor that was away between two looks does not look for sixteen times as long") {
  shared_cpu cpu{50};
  CHECK(cpu.is_free(0));
  CHECK_FALSE(cpu.was_away(1000, 49, by_a_thread));
  CHECK(cpu.is_free(1000));
  CHECK(cpu.was_away(1000, 50, by_a_thread));
  CHECK_FALSE(cpu.is_free(1000));
  CHECK_FALSE(cpu.is_free(1799));
  CHECK(cpu.is_free(1800));
}

TEST_CASE("an executor that stood still with its whole CPU looks on") {
  shared_cpu cpu{50};
  CHECK_FALSE(cpu.was_away(1000, 500, by_the_hypervisor));
  CHECK(cpu.is_free(1000));
}

TEST_CASE("to be away for a short time does not end the pause after a long one") {
  shared_cpu cpu{50};
  cpu.was_away(1000, 1000, by_a_thread);
  cpu.was_away(2000, 50, by_a_thread);
  CHECK_FALSE(cpu.is_free(16'999));
  CHECK(cpu.is_free(17'000));
}

namespace {

std::atomic<std::uint64_t> step{0};
std::atomic<int> asked{0};

/// How often an executor asks how long it is to look, if each look at the clock is `look` later.
int asks_with(std::chrono::nanoseconds look) {
  step = tick_clock::to_ticks(look);
  asked = 0;
  pool_config config;
  config.simulate.ticks = []() noexcept -> std::uint64_t {
    thread_local std::uint64_t time = 1; // its own for a thread that asks for statistics
    return time += step.load();
  };
  config.hooks.lingers = [](void*, executor&) noexcept -> std::uint64_t {
    ++asked;
    return 0;
  };
  executor_pool pool{config};
  begin_threads(pool);
  std::uint64_t parked = 0;
  for (int times = 0; times < 20; ++times) {
    while (pool.at(0).stats().times_parked == parked || !pool.any_idle() || pool.any_looking())
      std::this_thread::yield();
    parked = pool.at(0).stats().times_parked;
    pool.rouse();
  }
  return asked;
}

} // namespace

TEST_CASE("an executor whose looks are far apart sleeps without another one") {
  if (usable_cpus() < 2)
    return; // nobody looks on one CPU
  CHECK(asks_with(100ns) >= 19);
  CHECK(asks_with(1ms) <= 2);
}
