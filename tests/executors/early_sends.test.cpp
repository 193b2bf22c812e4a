// Items that work sends early, where the other executor sleeps, or is about to: with threads.

#include <basal/executors/executor_pool.hpp>

#include "begin_threads.hpp"
#include "recurring.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

using namespace basal::executors;
using namespace std::chrono_literals;

namespace {

/// Each thread's own, which moves by a hundred ticks when it is read.
std::uint64_t clock_of_thread() noexcept {
  thread_local std::uint64_t time = 0;
  return time += 100;
}

/// Two executors, of whom each finds a CPU of its own.
pool_config two_executors() {
  pool_config config;
  config.executors = 2;
  config.newest_ops = &recurring::ops;
  config.simulate.ticks = &clock_of_thread;
  config.simulate.cpu = []() noexcept -> unsigned {
    static std::atomic<unsigned> threads{0};
    thread_local const unsigned own = 100 + threads++;
    return own;
  };
  return config;
}

/// One item of executor 0.
struct sending {
  std::chrono::nanoseconds before{0}; ///< it has sent
  std::chrono::nanoseconds after{0};
  bool has_more = false;   ///< another message, so that it does not end
  bool has_looked = false; ///< between the first message and the one that sends
  int quick_from = 100;    ///< the time from which on it sends at once
  int batches = 1;         ///< of messages that each send, with a look at the end
};

/// Executor 0 sends, so many times, when executor 1 is `ready`.
/// @returns for each time '-' if the receiver stayed in the slot, '>' if it went elsewhere
template <class Ready>
std::string fate_of_receiver(const pool_config& config, const sending& how, int times,
                             Ready ready) {
  std::atomic<int> ran{0};
  executor_pool pool{config};
  begin_threads(pool);
  recurring first{[&](executor&) { ++ran; }};
  recurring second = first;
  recurring* const receivers[] = {&first, &second};
  int times_sent = 0;
  const auto compute = [](executor& self, std::chrono::nanoseconds time) {
    const auto end = self.now() + tick_clock::to_ticks(time);
    while (self.now() < end) {
      // this moves the clock
    }
  };
  recurring sender{[&](executor& self) {
                     if (how.has_looked)
                       self.look(self.now());
                     for (int batch = 0; batch < how.batches; ++batch) {
                       compute(self, times_sent < how.quick_from ? how.before : 0ns);
                       self.push_newest(receivers[batch]->item());
                       compute(self, how.after);
                       self.look(self.now());
                     }
                   },
                   how.has_more};
  std::string fate;
  for (int i = 1; i <= times; ++i) {
    times_sent = i;
    while (pool.num_idle() < pool.size() || !ready(pool))
      std::this_thread::yield();
    const auto stayed = pool.at(0).stats().lifo_hits;
    inbox_node once{nullptr, sender.item()};
    pool.at(0).deliver(once);
    while (ran < i * how.batches || pool.num_idle() < pool.size())
      std::this_thread::yield();
    fate += pool.at(0).stats().lifo_hits == stayed ? '>' : '-';
  }
  return fate;
}

/// The backstop, which runs in real time, takes an item from the slot of an executor that has no
/// CPU for long: then the same once more.
template <class Ready>
bool is_fate_of_receiver(const std::string& expected, const pool_config& config, const sending& how,
                         Ready ready) {
  for (int attempt = 0; attempt < 5; ++attempt)
    if (fate_of_receiver(config, how, static_cast<int>(expected.size()), ready) == expected)
      return true;
  return false;
}

bool sleeps(const executor_pool& pool) {
  return !pool.is_looking(1);
}

} // namespace

TEST_CASE("waits that are each too short for a wake-up pay for one together") {
  auto config = two_executors();
  config.spin = 0ns;
  // Long; 50 us after it has sent; so twice, which is as long as a wake-up takes; and now it pays.
  CHECK(is_fate_of_receiver("---->-->", config, {.after = 50us}, sleeps));
  CHECK(is_fate_of_receiver("-->>", config, {.after = 150us}, sleeps));
}

TEST_CASE("who is sent to stays where another executor would have to wait for a CPU") {
  auto config = two_executors();
  config.spin = 0ns;
  config.share_cpus = 1;
  CHECK(is_fate_of_receiver("----", config, {.after = 150us}, sleeps));
}

TEST_CASE("who is sent to by work that outlasts a theft goes to who looks for a wake-up") {
  auto config = two_executors();
  config.hooks.lingers = [](void*, executor&) noexcept { return std::uint64_t{1} << 60; };
  const auto looks = [](const executor_pool& pool) { return pool.is_looking(1); };
  CHECK(is_fate_of_receiver("-->>", config, {.after = 50us}, looks));
}

TEST_CASE("who is sent to by work that sends late does not wait for that work's next message") {
  auto config = two_executors();
  config.spin = 0ns;
  const sending late{.before = 150us, .has_more = true};
  CHECK(is_fate_of_receiver("-->>", config, late, sleeps));
  CHECK(is_fate_of_receiver("---->-->", config, {.before = 50us, .has_more = true}, sleeps));
  CHECK(is_fate_of_receiver("----", config, {.before = 150us}, sleeps));
  CHECK(is_fate_of_receiver("----", config, {.before = 5us, .has_more = true}, sleeps));
  // Many messages may be what took so long since its last look, and its turn ends with these.
  CHECK(is_fate_of_receiver("----", config, {.before = 150us, .has_more = true, .has_looked = true},
                            sleeps));
  // In later batches it is as in the first.
  CHECK(
    is_fate_of_receiver("-->>", config, {.before = 150us, .has_more = true, .batches = 2}, sleeps));
  config.share_cpus = 1;
  CHECK(is_fate_of_receiver("----", config, late, sleeps));
}

TEST_CASE("one that sends late, but not so late today, keeps its receiver beside who looks") {
  auto config = two_executors();
  config.hooks.lingers = [](void*, executor&) noexcept { return std::uint64_t{1} << 60; };
  const auto looks = [](const executor_pool& pool) { return pool.is_looking(1); };
  CHECK(is_fate_of_receiver("-->-", config, {.before = 50us, .has_more = true, .quick_from = 4},
                            looks));
}

TEST_CASE("who sends two and goes on for long has an executor for them, whoever is crowded out") {
  auto config = two_executors();
  config.spin = 0ns;
  config.hooks.crowds = [](void*, const executor&) noexcept { return true; };
  const auto wake_ups = [&] {
    std::atomic<int> ran{0};
    executor_pool pool{config};
    begin_threads(pool);
    recurring first{[&](executor&) { ++ran; }};
    recurring second{[&](executor&) { ++ran; }};
    recurring sender{[&](executor& self) {
      self.push_newest(first.item());
      self.push_newest(second.item());
      const auto end = self.now() + tick_clock::to_ticks(50us);
      while (self.now() < end) {
        // this moves the clock
      }
      self.look(self.now());
    }};
    std::string woken;
    recurring short_one{[](executor& self) { self.look(self.now()); }};
    for (int i = 0; i < 3; ++i) { // then items are known to be short
      const auto run = pool.at(0).stats().tasks_run;
      inbox_node once{nullptr, short_one.item()};
      pool.at(0).deliver(once);
      while (pool.at(0).stats().tasks_run == run || pool.num_idle() < pool.size())
        std::this_thread::yield();
    }
    for (int i = 1; i <= 3; ++i) {
      while (pool.num_idle() < pool.size() || !sleeps(pool))
        std::this_thread::yield();
      const auto before = pool.at(1).stats().wake_ups;
      inbox_node once{nullptr, sender.item()};
      pool.at(0).deliver(once);
      while (ran < 2 * i || pool.num_idle() < pool.size())
        std::this_thread::yield();
      woken += pool.at(1).stats().wake_ups == before ? '-' : '>';
    }
    return woken;
  };
  bool holds = false; // unknown, known to take long, and to go on after it has sent
  for (int attempt = 0; attempt < 5 && !holds; ++attempt)
    holds = wake_ups() == "-->";
  CHECK(holds);
}
