#include <basal/executors/detail/stopwatch.hpp>
#include <basal/executors/executors.hpp>

#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>

#include "support/catch.hpp"

using namespace basal::executors;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

namespace {

nanoseconds cpu_now() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::chrono::seconds{t.tv_sec} + nanoseconds{t.tv_nsec};
}

void burn(nanoseconds how_long) {
  const auto end = cpu_now() + how_long;
  while (cpu_now() < end) {
  }
}

/// Runs `body(executor&)` on an executor and waits for it.
template <class Body>
void on_executor(executor_pool& pool, Body body) {
  struct task {
    Body& body;
    completion done;
    static void run(void* object, executor& self) noexcept {
      auto& t = *static_cast<task*>(object);
      t.body(self);
      t.done.set();
    }
  };
  static constexpr work_ops ops{&task::run, nullptr};
  task t{body, {}};
  REQUIRE(pool.submit({&t, &ops}));
  t.done.wait();
}

pool_config one_executor() {
  pool_config config;
  config.executors = 1;
  return config;
}

} // namespace

TEST_CASE("a stopwatch counts the time on the executor") {
  executor_pool pool{one_executor()};
  stopwatch::reading seen{};
  on_executor(pool, [&](executor& self) {
    stopwatch watch{self.running(), stopwatch::precision::cpu_clock};
    burn(5ms);
    seen = watch.stop();
    CHECK(self.running().watch() == nullptr);
  });
  CHECK(seen.busy >= 5ms);
  CHECK(seen.elapsed >= seen.busy - 100us); // two clocks
}

TEST_CASE("the time in which its fiber was suspended does not count as busy") {
  executor_pool pool{one_executor()};
  stopwatch::reading seen{};
  stopwatch::reading seen_outside{};
  for (const auto p : {stopwatch::precision::cpu_clock, stopwatch::precision::ticks}) {
    completion event;
    std::atomic<bool> waits{false};
    std::thread waker{[&] {
      waits.wait(false);
      // Longer than anything else that happens here takes, were it counted.
      std::this_thread::sleep_for(300ms);
      event.set();
    }};
    on_executor(pool, [&](executor& self) {
      stopwatch outer{self.running(), p};
      stopwatch watch{self.running(), p};
      waits.store(true);
      waits.notify_all();
      event.wait();
      seen = watch.stop();
      seen_outside = outer.stop();
    });
    waker.join();
    for (const auto& one : {seen, seen_outside}) {
      CHECK(one.elapsed >= 250ms);
      CHECK(one.busy < 250ms);
    }
  }
}

TEST_CASE("by ticks, too, a long stretch is without the time in which others had the CPU") {
  cpu_set_t allowed;
  REQUIRE(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  int first = 0;
  while (!CPU_ISSET(first, &allowed))
    ++first;
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(first, &only);
  auto config = one_executor();
  const bool more_than_cpus = GENERATE(false, true); // they ask for other reasons as well
  if (more_than_cpus) {
    config.executors = 2;
    config.share_cpus = 1;
  }
  std::atomic<bool> over{false};
  std::atomic<bool> competes{false};
  executor_pool pool{config};
  pool.want_own_time();
  std::thread other{[&] {
    sched_setaffinity(0, sizeof only, &only);
    for (competes = true; !over;) {
    }
  }};
  const auto measured = [&](auto burned) {
    stopwatch::reading seen{};
    on_executor(pool, [&](executor& self) {
      sched_setaffinity(0, sizeof only, &only);
      stopwatch watch{self.running(), stopwatch::precision::ticks};
      burn(burned / 2);
      self.look(self.now());
      burn(burned / 2);
      seen = watch.stop();
    });
    return seen;
  };
  while (!competes)
    std::this_thread::yield();
  measured(1ms); // and the executor is where the other one is
  const auto seen = measured(30ms);
  over = true;
  other.join();
  CHECK(seen.elapsed >= 40ms);
  CHECK(seen.busy < 36ms);
  CHECK(seen.busy > 10ms);
}

TEST_CASE("work that blocks its thread keeps its executor, so that counts") {
  executor_pool pool{one_executor()};
  stopwatch::reading seen{};
  on_executor(pool, [&](executor& self) {
    stopwatch watch{self.running(), stopwatch::precision::cpu_clock};
    std::this_thread::sleep_for(20ms);
    seen = watch.stop();
  });
  CHECK(seen.busy >= 19ms);
}

TEST_CASE("work inside of measured work counts for both, and so does what others add") {
  executor_pool pool{one_executor()};
  stopwatch::reading inner{};
  stopwatch::reading outer{};
  on_executor(pool, [&](executor& self) {
    stopwatch whole{self.running(), stopwatch::precision::cpu_clock};
    burn(2ms);
    {
      stopwatch part{self.running(), stopwatch::precision::cpu_clock};
      burn(3ms);
      part.add(1s);
      inner = part.stop();
    }
    CHECK(self.running().watch() == &whole);
    outer = whole.stop();
  });
  CHECK(inner.busy >= 1s + 3ms);
  CHECK(outer.busy >= 1s + 5ms);
}

TEST_CASE("delegated time reaches the account, and nobody pays where there is none") {
  executor_pool pool{one_executor()};
  executor_pool other{one_executor()};
  stopwatch::reading seen{};
  on_executor(pool, [&](executor& self) {
    CHECK(delegated_time::current_account() == nullptr);
    stopwatch watch{self.running(), stopwatch::precision::cpu_clock};
    auto* account = delegated_time::current_account();
    CHECK(account == &watch);
    on_executor(other, [&](executor& there) {
      {
        delegated_time time{there, account};
        burn(4ms);
      }
      delegated_time unaccounted{there, nullptr};
      CHECK(there.running().watch() == nullptr);
    });
    seen = watch.stop();
  });
  CHECK(seen.busy >= 4ms);
}
