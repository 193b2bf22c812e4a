// The pool's slow clock: what it does for long tasks, and that it sleeps with the pool. Nothing
// here is timed: of two things that one look does, the later shows that the earlier was done.

#include <basal/executors/executors.hpp>

#include "closure_task.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <latch>
#include <sched.h>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>

using namespace basal::executors;
using namespace std::chrono_literals;

namespace {

pool_config two_executors() {
  pool_config config;
  config.name = "test";
  config.executors = 2;
  config.newest_ops = &task::ops;
  return config;
}

/// A long task that leaves an item in the newest-first slot and ends once that has run elsewhere.
/// @returns the task's attention when the item ran
std::int32_t attention_of_long_task(bool has_safepoints) {
  executor_pool pool{two_executors()};
  completion done;
  std::int32_t result = 0;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    std::atomic<bool> ran{false};
    self.attentive().store(has_safepoints);
    self.push_newest(task::make([&](executor&) {
      result = self.attention().load();
      ran.store(true);
    }));
    while (!ran.load())
      std::this_thread::yield();
    self.attentive().store(false);
    done.set();
  })));
  done.wait();
  return result;
}

/// Of the thread with that name: whether it sleeps on a futex without a time-out, as far as the
/// kernel tells.
enum class sleep_state { unknown, endless, other };

sleep_state sleep_state_of(const std::string& thread) {
  for (const auto& folder : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream{folder.path() / "comm"}, name);
    if (name != thread)
      continue;
    std::string line;
    if (!std::getline(std::ifstream{folder.path() / "syscall"}, line))
      return sleep_state::unknown;
    std::istringstream words{line};
    std::string number, address, operation, value, timeout;
    words >> number >> address >> operation >> value >> timeout;
    return number == std::to_string(SYS_futex) && timeout == "0x0" ? sleep_state::endless
                                                                   : sleep_state::other;
  }
  return sleep_state::unknown;
}

void run_one_task(executor_pool& pool) {
  completion done;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    std::atomic<bool> ran{false};
    self.push_newest(task::make([&](executor&) { ran.store(true); }));
    while (!ran.load()) // until the backstop has moved it
      std::this_thread::yield();
    done.set();
  })));
  done.wait();
}

} // namespace

TEST_CASE("the backstop raises the attention of a long task that has safepoints, and no other's") {
  CHECK(attention_of_long_task(true) != 0);
  CHECK(attention_of_long_task(false) == 0);
}

TEST_CASE("an executor whose task blocks its thread does not run after a while") {
  std::atomic<bool> ends{false};
  executor_pool pool{two_executors()};
  completion done;
  REQUIRE(pool.submit(task::make([&](executor&) {
    ends.wait(false);
    done.set();
  })));
  while (pool.num_running() != 0) // the other one sleeps soon
    std::this_thread::yield();
  ends.store(true);
  ends.notify_all();
  done.wait();
}

namespace {

/// At ten looks of the backstop, how often an executor whose task is this counts as one that runs.
int times_running(void (*do_a_little)()) {
  executor_pool pool{two_executors()};
  completion done;
  int running = 0;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    self.attentive().store(true);
    // The first looks have seen too little.
    for (int looks = -3; looks < 10; do_a_little())
      if (self.attention().load() != 0) { // the backstop has looked before
        self.clear_attention();
        running += ++looks > 0 && pool.num_running() != 0 ? 1 : 0;
      }
    self.attentive().store(false);
    done.set();
  })));
  done.wait();
  return running;
}

bool is_pinned_to_first_cpu() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  return sched_setaffinity(0, sizeof one, &one) == 0;
}

} // namespace

TEST_CASE("an executor whose task computes for long runs") {
  CHECK(times_running([] {}) == 10);
}

TEST_CASE("a task that sleeps now and then, but computes in between, is not blocked") {
  const auto running = times_running([] {
    const auto end = std::chrono::steady_clock::now() + 100us;
    while (std::chrono::steady_clock::now() < end) {
    }
    std::this_thread::sleep_for(2ms);
  });
  CHECK(running >= 5); // others may have its CPU for a whole tick and more
}

TEST_CASE("a task that waits for a CPU is not blocked") {
  std::atomic<bool> ends{false};
  std::latch crowded{2};
  executor_pool pool{two_executors()};
  const auto spin = [&] {
    if (!is_pinned_to_first_cpu())
      WARN("the first CPU is not for this test");
    crowded.count_down();
    while (!ends) {
    }
  };
  completion done;
  REQUIRE(pool.submit(task::make([&](executor&) {
    setpriority(PRIO_PROCESS, 0, 19); // has a hundredth of the CPU, at times
    spin();
    done.set();
  })));
  std::jthread other{spin};
  crowded.wait();
  bool is_seen = true;
  for (int looks = 0; looks < 20; ++looks) {
    std::this_thread::sleep_for(5ms);
    is_seen = is_seen && pool.num_running() != 0;
  }
  CHECK(is_seen);
  ends = true;
  other.join();
  done.wait();
}

TEST_CASE("the backstop is awake from the first task on") {
  auto config = two_executors();
  std::latch submitted{1};
  config.hooks.context = &submitted;
  config.hooks.thread_starts = [](void* context, executor&) noexcept {
    static_cast<std::latch*>(context)->wait(); // so that no executor has slept before
  };
  executor_pool pool{config};
  std::thread starter{[&] { run_one_task(pool); }};
  while (pool.num_runnable() < 2) // the one that was woken, and what waits
    std::this_thread::yield();
  submitted.count_down();
  starter.join();
}

TEST_CASE("the backstop of an idle pool sleeps without a time-out, and wakes up with the pool") {
  executor_pool pool{two_executors()};
  run_one_task(pool); // else its thread has not begun
  for (int i = 0; i < 2; ++i) {
    auto state = sleep_state_of("test.bs");
    while (state == sleep_state::other) {
      std::this_thread::yield();
      state = sleep_state_of("test.bs");
    }
    if (state == sleep_state::unknown)
      WARN("this kernel does not tell what a thread waits for");
    run_one_task(pool);
  }
}
