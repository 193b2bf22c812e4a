// The pool's slow clock: what it does for long tasks, and that it sleeps with the pool. Nothing
// here is timed: of two things that one look does, the later shows that the earlier was done.

#include <basal/executors/executors.hpp>

#include "closure_task.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <latch>
#include <sstream>
#include <string>
#include <sys/syscall.h>
#include <thread>

using namespace basal::executors;

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
  executor_pool pool{two_executors()};
  std::atomic<bool> ends{false};
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

TEST_CASE("an executor whose task computes for long runs") {
  executor_pool pool{two_executors()};
  completion done;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    self.attentive().store(true);
    // Without end if it does not: on a busy machine it may get no CPU between two looks.
    for (int looks = 0; looks <= 4 || pool.num_running() == 0;)
      if (self.attention().load() != 0) { // the backstop has looked
        self.clear_attention();
        ++looks;
      }
    self.attentive().store(false);
    done.set();
  })));
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
