#include <basal/executors/executors.hpp>

#include "begin_threads.hpp"
#include "closure_task.hpp"
#include "even_clock.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace basal::executors;

namespace {

pool_config config_of(std::size_t executors) {
  pool_config config;
  config.name = "test";
  config.executors = executors;
  config.newest_ops = &task::ops;
  return config;
}

} // namespace

TEST_CASE("submitted work runs on an executor of the pool") {
  executor_pool pool{config_of(2)};
  completion done;
  executor_pool* seen = nullptr;
  CHECK(executor::current() == nullptr);
  REQUIRE(pool.submit(task::make([&](executor& self) {
    seen = executor::current() == &self ? &self.pool() : nullptr;
    done.set();
  })));
  done.wait();
  CHECK(seen == &pool);
}

TEST_CASE("threads have the names of their executors, and the backstop's its own") {
  executor_pool pool{config_of(2)};
  completion done;
  std::string expected;
  char name[16] = "";
  REQUIRE(pool.submit(task::make([&](executor& self) {
    expected = self.name();
    pthread_getname_np(pthread_self(), name, sizeof name);
    done.set();
  })));
  done.wait();
  begin_threads(pool);
  CHECK(expected.substr(0, 4) == "test");
  CHECK(name == expected);
  // Each thread names itself, when it begins; if one does not, the test's time-out tells.
  std::set<std::string> missing{"test0", "test1", "test.bs"};
  while (!missing.empty()) {
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
      std::string line;
      std::getline(std::ifstream{thread.path() / "comm"}, line);
      missing.erase(line);
    }
    std::this_thread::yield();
  }
}

TEST_CASE("a pool for which there is nothing to do has one thread, and no other when it stops") {
  std::atomic<int> begun{0};
  auto config = config_of(3);
  config.hooks.context = &begun;
  config.hooks.thread_starts
    = [](void* count, executor&) noexcept { ++*static_cast<std::atomic<int>*>(count); };
  {
    executor_pool pool{config};
    CHECK(pool.is_idle(0));
    CHECK(pool.is_idle(2));
    CHECK_FALSE(pool.is_looking(2));
    pool.stop(stop_mode::drain);
  }
  CHECK(begun == 1);
  executor_pool pool{config};
  completion done;
  REQUIRE(pool.submit(task::make([&](executor&) { done.set(); })));
  done.wait();
  CHECK(begun == 2);
  begin_threads(pool);
  CHECK(begun == 4);
}

TEST_CASE(
  "an executor's thread has its signals and CPUs from the pool's maker, not from who wakes") {
  struct seen {
    sigset_t blocked{};
    cpu_set_t cpus{};

    void look() {
      pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
      sched_getaffinity(0, sizeof cpus, &cpus);
    }
  } makers, executors;
  makers.look();
  executor_pool pool{config_of(1)};
  std::thread{[&] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    sched_setaffinity(0, sizeof one, &one);
    begin_threads(pool);
    sigset_t still;
    pthread_sigmask(SIG_SETMASK, nullptr, &still);
    if (sigismember(&still, SIGUSR1) != 1)
      std::abort(); // what the waker blocks is its own business
  }}.join();
  completion done;
  REQUIRE(pool.submit(task::make([&](executor&) {
    executors.look();
    done.set();
  })));
  done.wait();
  CHECK(sigismember(&executors.blocked, SIGUSR1) == sigismember(&makers.blocked, SIGUSR1));
  CHECK(CPU_EQUAL(&executors.cpus, &makers.cpus));
}

TEST_CASE("the hooks for a thread's start and end are its first and last, on the thread itself") {
  struct log {
    std::mutex mutex;
    std::map<std::thread::id, std::string> calls;

    void add(char what) {
      std::lock_guard guard{mutex};
      calls[std::this_thread::get_id()] += what;
    }
  } seen;
  auto config = config_of(2);
  config.hooks.context = &seen;
  config.hooks.thread_starts = [](void* self, executor&) noexcept {
    static_cast<log*>(self)->add(executor::current() == nullptr ? 's' : 'x');
  };
  config.hooks.thread_stops = [](void* self, executor&) noexcept {
    static_cast<log*>(self)->add(executor::current() == nullptr ? 'e' : 'x');
  };
  {
    executor_pool pool{config};
    begin_threads(pool);
    for (int i = 0; i < 2; ++i) {
      completion done;
      REQUIRE(pool.submit(task::make([&](executor&) {
        seen.add('.');
        done.set();
      })));
      done.wait();
    }
  }
  REQUIRE(seen.calls.size() == 2);
  std::size_t tasks = 0;
  for (const auto& [thread, calls] : seen.calls) {
    CHECK(thread != std::this_thread::get_id());
    CHECK(calls.front() == 's');
    CHECK(calls.back() == 'e');
    CHECK(calls.find('x') == std::string::npos);
    tasks += calls.size() - 2;
  }
  CHECK(tasks == 2);
}

TEST_CASE("work that submits work is all run, past the ring's capacity") {
  constexpr int count = 2000;
  std::atomic<int> left{count};
  executor_pool pool{config_of(2)};
  completion done;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    for (int i = 0; i < count; ++i)
      self.push_back(task::make([&](executor&) {
        if (left.fetch_sub(1) == 1)
          done.set();
      }));
  })));
  done.wait();
  CHECK(left.load() == 0);
}

TEST_CASE("an executor that lingers is woken without the kernel, and lets the pool stop") {
  if (usable_cpus() == 1)
    return;
  std::atomic<int> asked{0};
  auto config = config_of(1);
  config.hooks.context = &asked;
  config.hooks.lingers = [](void* context, executor&) noexcept {
    static_cast<std::atomic<int>*>(context)->fetch_add(1);
    return ~std::uint64_t{0};
  };
  basal::test::use_even_clock(config); // an executor that loses the CPU lingers no more
  executor_pool pool{config};
  begin_threads(pool);
  for (int i = 1; i <= 3; ++i) {
    while (asked.load() < i)
      std::this_thread::yield();
    completion done;
    REQUIRE(pool.submit(task::make([&](executor&) { done.set(); })));
    done.wait();
  }
  CHECK(pool.at(0).stats().times_parked >= 3);
  CHECK(pool.at(0).stats().wake_ups == 0);
}

TEST_CASE("two tasks that wake each other do not starve a third") {
  std::atomic<bool> stop{false};
  std::atomic<int> turns{0};
  executor_pool pool{config_of(1)};
  completion done;
  int turns_before_third = -1;
  std::function<void(executor&)> ping = [&](executor& self) {
    turns.fetch_add(1);
    if (!stop.load())
      self.push_newest(task::make(ping));
  };
  REQUIRE(pool.submit(task::make([&](executor& self) {
    self.push_back(task::make([&](executor&) {
      turns_before_third = turns.load();
      stop.store(true);
      done.set();
    }));
    self.push_newest(task::make(ping));
  })));
  done.wait();
  CHECK(turns_before_third <= 3);
  pool.stop(stop_mode::drain);
}

TEST_CASE("work from outside runs although an executor never runs out of its own") {
  std::atomic<bool> stop{false};
  executor_pool pool{config_of(1)};
  std::function<void(executor&)> again = [&](executor& self) {
    if (!stop.load())
      self.push_back(task::make(again));
  };
  REQUIRE(pool.submit(task::make(again)));
  completion done;
  REQUIRE(pool.submit(task::make([&](executor&) {
    stop.store(true);
    done.set();
  })));
  done.wait();
  pool.stop(stop_mode::drain);
}

TEST_CASE("draining runs what was accepted, also what it submits") {
  std::atomic<int> ran{0};
  std::atomic<int> discarded{0};
  constexpr int count = 300;
  {
    executor_pool pool{config_of(2)};
    for (int i = 0; i < count; ++i)
      REQUIRE(pool.submit(task::make(
        [&](executor& self) {
          ran.fetch_add(1);
          self.push_back(task::make([&](executor&) { ran.fetch_add(1); }, &discarded));
        },
        &discarded)));
    pool.stop(stop_mode::drain);
    auto late = task::make([](executor&) {});
    CHECK_FALSE(pool.submit(late)); // ours again
    late.ops->discard(late.object);
  }
  CHECK(ran.load() == 2 * count);
  CHECK(discarded.load() == 0);
}

TEST_CASE("discarding gives back what has not begun") {
  std::atomic<int> ran{0};
  std::atomic<int> discarded{0};
  constexpr int count = 300;
  {
    std::atomic<bool> go{false};
    executor_pool pool{config_of(1)};
    completion begun;
    REQUIRE(pool.submit(task::make([&](executor&) {
      begun.set();
      while (!go.load())
        std::this_thread::yield();
    })));
    begun.wait();
    for (int i = 0; i < count; ++i)
      REQUIRE(pool.submit(task::make([&](executor&) { ran.fetch_add(1); }, &discarded)));
    std::thread stopper{[&] { pool.stop(stop_mode::discard); }};
    // The stopper closes the queue before it waits for the executor.
    for (;;) {
      auto probe = task::make([&](executor&) { ran.fetch_add(1); }, &discarded);
      if (!pool.submit(probe)) {
        probe.ops->discard(probe.object);
        break;
      }
      std::this_thread::yield();
    }
    go.store(true);
    stopper.join();
  }
  CHECK(ran.load() == 0);
  CHECK(discarded.load() >= count);
}

// The newest-first slot is its executor's own, so nobody would be woken for what
// is in it; a task that pushes and then goes on for long must not hold it back.
TEST_CASE("what a long task pushed last runs elsewhere before the task ends") {
  executor_pool pool{config_of(2)};
  completion long_one_ended;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    std::atomic<bool> ran{false};
    self.push_newest(task::make([&](executor&) { ran.store(true); }));
    while (!ran.load())
      std::this_thread::yield();
    long_one_ended.set();
  })));
  long_one_ended.wait();
}

TEST_CASE("what a long task pushed last stays there while everybody is at a long task") {
  using namespace std::chrono_literals;
  std::latch both_run{2};
  std::atomic<bool> looked{false}; // the second task may read it last
  executor_pool pool{config_of(2)};
  bool stayed = false;
  completion ran;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    both_run.arrive_and_wait();
    self.push_newest(task::make([&](executor&) { ran.set(); }));
    std::this_thread::sleep_for(25ms); // some looks of the backstop
    stayed = self.num_waiting() == 1;
    looked.store(true);
  })));
  REQUIRE(pool.submit(task::make([&](executor&) {
    both_run.arrive_and_wait();
    while (!looked.load())
      std::this_thread::yield();
  })));
  ran.wait();
  CHECK(stayed);
}

TEST_CASE("an idle pool sleeps, and its statistics say so") {
  executor_pool pool{config_of(2)};
  begin_threads(pool);
  while (!(pool.at(0).stats().times_parked > 0 && pool.at(1).stats().times_parked > 0))
    std::this_thread::yield();
  CHECK(pool.any_idle());
  auto* claimed = pool.claim_idle();
  REQUIRE(claimed != nullptr);
  completion done;
  executor* ran_on = nullptr;
  auto item = task::make([&](executor& self) {
    ran_on = &self;
    done.set();
  });
  inbox_node node{nullptr, item};
  pool.deliver_claimed(*claimed, node);
  done.wait();
  CHECK(ran_on == claimed);
}

TEST_CASE("a pool that cannot stop in time says who keeps it, and stops later") {
  using namespace std::chrono_literals;
  std::atomic<bool> release{false};
  executor_pool pool{config_of(3)};
  completion event;
  completion running;
  REQUIRE(pool.submit(task::make([&](executor& self) {
    auto* before = self.running().name_work("endless");
    running.set();
    while (!release.load())
      std::this_thread::yield();
    self.running().name_work(before);
    event.set();
  })));
  running.wait();
  completion waiting;
  REQUIRE(pool.submit(task::make([&](executor&) {
    waiting.set();
    event.wait();
  })));
  waiting.wait();
  // The third executor has nothing to do, ends, and is not named. The second
  // says "waiting" a moment before its fiber is suspended: until then it still
  // runs its task.
  std::vector<straggler> who;
  do
    who = pool.stop(stop_mode::drain, 1ms);
  while (who.size() > 2 || to_string(who).find(" runs a task") != std::string::npos);
  REQUIRE(who.size() == 2);
  const auto text = to_string(who);
  CHECK_THAT(text, ContainsSubstring(" runs endless"));
  CHECK_THAT(text, ContainsSubstring(" runs nothing, but something there waits"));
  CHECK_THAT(text, ContainsSubstring("test"));
  CHECK_FALSE(pool.submit({&event, &task::ops}));
  release.store(true);
  CHECK(pool.stop(stop_mode::drain, 1h).empty());
}

TEST_CASE("200 executors work, sleep and stop") {
  std::atomic<int> ran{0};
  executor_pool pool{config_of(200)};
  constexpr int count = 5000;
  for (int i = 0; i < count; ++i)
    REQUIRE(pool.submit(task::make([&](executor&) { ran.fetch_add(1); })));
  while (ran.load() < count)
    std::this_thread::yield();
  pool.stop(stop_mode::drain);
  CHECK(ran.load() == count);
}
