// An executor that has done its part of a computation stays at hand for the next one: who finds it
// there, and when it goes.

#include <basal/posse/posse.hpp>

#include "executors/closure_task.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

using namespace basal;
using namespace basal::posse;
using namespace std::chrono_literals;

namespace {

struct i_give_up {};

/// So long that only what is tested can end it.
constexpr auto for_ever = std::chrono::hours{1};

/// Two CPUs: one for the thread that calls, one for a delegate.
runtime_config config_of(std::chrono::nanoseconds stay) {
  runtime_config config;
  config.compute_executors = 2;
  config.simulate.cpus = 2;
  config.quantum = runtime_config::max_quantum;
  config.stay = stay;
  return config;
}

/// Returns when another executor has run a branch of `m`'s.
void give_away(member& m) {
  std::atomic<bool> has_run{false};
  m.fork_merge(
    [&](member& left) {
      while (!has_run.load(std::memory_order_relaxed))
        left.poll();
    },
    [&] { has_run.store(true, std::memory_order_relaxed); });
}

/// How many delegates came to compute executors by way of an inbox.
std::uint64_t deliveries(runtime& rt) {
  std::uint64_t result = 0;
  for (std::size_t i = 0; i < rt.compute().size(); ++i)
    result += rt.compute().at(i).stats().deliveries;
  return result;
}

} // namespace

TEST_CASE("stay: the next part comes without the way to an executor that is idle") {
  runtime rt{config_of(for_ever)};
  rt.run([](member& m) {
    for (int i = 0; i < 5; ++i)
      give_away(m);
  });
  CHECK(rt.stats().thefts == 5);
  CHECK(deliveries(rt) < 5); // all but the first, where no thread had to wait for its CPU
}

TEST_CASE("stay: it is one that need not stay idle in the stead of the thread that calls") {
  auto config = config_of(for_ever);
  config.costs.asleep_ns = 1; // so that it is not roused before
  std::atomic<std::size_t> index{99};
  config.thefts.context = &index;
  config.thefts.saw = [](void* seen, const theft_event& theft) noexcept {
    static_cast<std::atomic<std::size_t>*>(seen)->store(theft.to->index());
  };
  runtime rt{config};
  while (rt.compute().num_idle() < 2 || rt.compute().any_looking()) // else it is one that is awake
    std::this_thread::yield();
  rt.run(give_away);
  CHECK(index == 0);
}

TEST_CASE("stay: not at all") {
  runtime rt{config_of(0ns)};
  rt.run([](member& m) {
    for (int i = 0; i < 5; ++i)
      give_away(m);
  });
  CHECK(rt.stats().thefts == 5);
  CHECK(deliveries(rt) == 5);
}

TEST_CASE("stay: by the strict rule not at all") {
  auto config = config_of(for_ever);
  config.steal_by = hysteresis::quantum;
  config.quantum = runtime_config::min_quantum;
  runtime rt{config};
  rt.run([](member& m) {
    for (int i = 0; i < 3; ++i)
      give_away(m);
  });
  CHECK(deliveries(rt) == 3);
}

TEST_CASE("stay: parts of another computation come that way, too") {
  runtime rt{config_of(for_ever)};
  for (int i = 0; i < 5; ++i)
    rt.run(give_away);
  CHECK(rt.stats().thefts == 5);
  CHECK(deliveries(rt) < 5);
}

TEST_CASE("stay: for a quantum in all") {
  auto config = config_of(for_ever);
  config.quantum = runtime_config::min_quantum;
  runtime rt{config};
  rt.run([&](member& m) {
    while (deliveries(rt) < 2) // else it stays for ever
      give_away(m);
  });
  CHECK(deliveries(rt) == 2);
}

TEST_CASE("stay: it goes for work that waits") {
  std::atomic<int> running{0}; // tasks look at these after the last check
  std::atomic<bool> all_run{false};
  runtime rt{config_of(for_ever)};
  rt.run(give_away);
  for (int i = 0; i < 2; ++i)
    REQUIRE(rt.compute().submit(task::make([&](executors::executor&) {
      if (running.fetch_add(1) == 1)
        all_run.store(true);
      while (!all_run.load()) // needs both executors
        std::this_thread::yield();
    })));
  while (!all_run.load())
    std::this_thread::yield();
}

TEST_CASE("stay: not while more executors run than there are CPUs") {
  executors::pool_config one;
  one.executors = 1;
  executors::executor_pool others{one};
  {
    runtime rt{config_of(for_ever)};
    rt.attach(others);
    std::atomic<bool> others_run{false}, others_end{false};
    rt.run([&](member& m) {
      m.fork_merge(
        [&](member& left) {
          while (!others_run.load())
            left.poll();
        },
        [&] {
          REQUIRE(others.submit(task::make([&](executors::executor&) {
            others_run.store(true);
            while (!others_end.load())
              std::this_thread::yield();
          })));
          while (!others_run.load())
            std::this_thread::yield();
        });
      while (rt.compute().num_idle() < 2)
        std::this_thread::yield();
      others_end.store(true);
      while (others.num_idle() < 1)
        std::this_thread::yield();
      give_away(m);
    });
    CHECK(deliveries(rt) == 2);
    rt.stop(executors::stop_mode::drain);
  }
  others.stop(executors::stop_mode::drain);
}

TEST_CASE("stay: it goes when the runtime stops") {
  runtime rt{config_of(for_ever)};
  rt.run(give_away);
  rt.stop(executors::stop_mode::drain);
  CHECK(rt.stats().thefts == 1);
}

TEST_CASE("stay: an exception, and a part that is not wanted any more") {
  runtime rt{config_of(for_ever)};
  for (int i = 0; i < 5; ++i) {
    CHECK_THROWS_AS(rt.run([](member& m) {
      std::atomic<bool> has_begun{false};
      m.fork_merge(
        [&](member& left) {
          while (!has_begun.load(std::memory_order_relaxed))
            left.poll();
          throw i_give_up{};
        },
        [&](member& right) {
          has_begun.store(true, std::memory_order_relaxed);
          for (;;)
            right.poll();
        });
    }),
                    i_give_up);
  }
  CHECK(rt.run([](member& m) {
    give_away(m);
    return 7;
  }) == 7);
}

TEST_CASE("stay: less than nothing is refused") {
  CHECK_THROWS_WITH(runtime{config_of(-1ns)}, "basal: stay is -1 ns; it must be 0 or more");
}
