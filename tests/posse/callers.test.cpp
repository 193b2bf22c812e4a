// Calls from threads that are no executors: such a thread runs the computation itself.

#include <basal/posse/algorithm.hpp>
#include <basal/posse/posse.hpp>

#include "executors/closure_task.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <ranges>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

using namespace basal;
using namespace basal::posse;
using namespace std::chrono_literals;

namespace {

runtime_config config_of(std::size_t executors) {
  runtime_config config;
  config.compute_executors = executors;
  config.quantum = runtime_config::min_quantum;
  return config;
}

/// Where the computation is.
const executors::executor_pool& here() {
  return executors::executor::current()->pool();
}

void compute_for(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

/// The threads on which parts of it ran.
class thread_set {
public:
  void add() {
    const std::lock_guard guard{mutex_};
    ids_.insert(std::this_thread::get_id());
  }
  std::size_t size() {
    const std::lock_guard guard{mutex_};
    return ids_.size();
  }

private:
  std::mutex mutex_;
  std::set<std::thread::id> ids_;
};

void spread(member& m, int depth, thread_set& threads) {
  if (depth == 0) {
    compute_for(100us);
    threads.add();
    return;
  }
  m.fork_merge([&](member& k) { spread(k, depth - 1, threads); },
               [&](member& k) { spread(k, depth - 1, threads); });
}

/// A thread that is in a call, with something that has no safepoint, while this lives.
class caller {
public:
  enum class does { block, compute };

  explicit caller(runtime& rt, does this_then = does::block)
    : thread_([this, &rt, this_then] {
        rt.run([this, this_then](member&) {
          pool_ = &here();
          pool_.notify_all();
          while (this_then == does::compute && !ends_)
            std::this_thread::yield();
          ends_.wait(false);
        });
      }) {
    pool_.wait(nullptr);
  }
  ~caller() {
    ends_ = true;
    ends_.notify_all();
  }
  const executors::executor_pool* pool() const {
    return pool_;
  }

private:
  std::atomic<const executors::executor_pool*> pool_{nullptr};
  std::atomic<bool> ends_{false};
  std::jthread thread_;
};

} // namespace

TEST_CASE("a plain thread runs what it calls, and is no executor afterwards") {
  runtime rt{config_of(2)};
  const auto self = std::this_thread::get_id();
  for (int i = 0; i < 3; ++i) {
    CHECK(rt.run([](member&) { return std::this_thread::get_id(); }) == self);
    CHECK(executors::executor::current() == nullptr);
  }
  CHECK(rt.run([](member&) { return executors::executor::current()->name(); }) == "basal.call0");
  CHECK(rt.offload([](member&) { return std::this_thread::get_id(); }) != self);
  CHECK_THROWS_WITH(rt.run([](member&) -> int { throw std::runtime_error("thrown"); }), "thrown");
  CHECK(executors::executor::current() == nullptr);
  // A call within a call is on the same fiber; another runtime's, too.
  runtime other{config_of(1)};
  CHECK(rt.run([&](member&) {
    return other.run([&](member&) { return rt.run([](member&) { return 7; }); });
  }) == 7);
}

TEST_CASE("an exception that is being handled is still there after a call that throws others") {
  runtime rt{config_of(1)};
  try {
    throw std::runtime_error("outer");
  } catch (const std::runtime_error&) {
    rt.run([](member&) {
      try {
        throw std::logic_error("inner");
      } catch (const std::logic_error&) {
      }
    });
    CHECK_THROWS_WITH(std::rethrow_exception(std::current_exception()), "outer");
  }
}

TEST_CASE("a plain thread calls whatever the number of executors") {
  runtime rt{config_of(executors::pool_config::max_executors / 2 + 1)};
  CHECK(rt.run([](member&) { return 7; }) == 7);
}

TEST_CASE("threads that call may be more than the CPUs where these may all be used") {
  runtime rt{config_of(std::max<std::size_t>(1, executors::usable_cpus()))};
  std::vector<std::unique_ptr<caller>> all;
  for (std::size_t i = 0; i < std::max<std::size_t>(16, 2 * rt.compute().size()); ++i) {
    all.push_back(std::make_unique<caller>(rt));
    CHECK(all.back()->pool() != &rt.compute());
  }
  const caller one_more{rt};
  CHECK(one_more.pool() == &rt.compute());
}

TEST_CASE("where fewer CPUs may be used, the next one's computation is run by a compute executor") {
  if (executors::usable_cpus() == 1)
    return;
  runtime rt{config_of(1)};
  const caller first{rt};
  CHECK(first.pool() != &rt.compute());
  const caller second{rt};
  CHECK(second.pool() == &rt.compute());
}

TEST_CASE("a thread that calls takes the place of a compute executor") {
  for (std::size_t executors : {1, 2}) {
    runtime rt{config_of(executors)};
    std::size_t most = 0;
    for (int i = 0; i < 20; ++i) {
      thread_set of_one;
      rt.run([&](member& m) { spread(m, 5, of_one); });
      most = std::max(most, of_one.size());
    }
    INFO(executors << " executors");
    if (executors == 1)
      CHECK(rt.stats().thefts == 0);
    else
      CHECK(most <= 3); // the last one while the caller waits for a merge
  }
}

TEST_CASE("while a caller computes, one compute executor fewer takes part") {
  runtime rt{config_of(2)};
  thread_set threads;
  std::atomic<bool> ends{false};
  std::atomic<int> others{0};
  // The caller never comes to a merge before the end, and both other executors would have time.
  rt.run([&](member& m) {
    m.fork_merge(
      [&](member& k) {
        const auto end = std::chrono::steady_clock::now() + 50ms;
        while (std::chrono::steady_clock::now() < end)
          spread(k, 1, threads);
        ends = true;
      },
      [&](member& k) {
        ++others;
        while (!ends)
          spread(k, 1, threads);
      });
  });
  CHECK(threads.size() <= 2);
}

TEST_CASE("calls that block their threads leave their CPUs to computations") {
  const auto cpus = executors::usable_cpus();
  if (cpus < 2)
    return;
  runtime rt{config_of(cpus)};
  std::deque<caller> blocked;
  while (blocked.size() < cpus - 1)
    blocked.emplace_back(rt);
  thread_set threads;
  const auto patience = std::chrono::steady_clock::now() + 30s;
  while (threads.size() < 2 && std::chrono::steady_clock::now() < patience)
    rt.run([&](member& m) { spread(m, 5, threads); });
  CHECK(threads.size() >= 2);
}

TEST_CASE("as many compute executors wait for thefts as callers leave CPUs to") {
  runtime rt{config_of(2)};
  const auto& hooks = rt.compute().config().hooks;
  auto waits_for_thefts
    = [&](std::size_t index) { return hooks.lingers(hooks.context, rt.compute().at(index)) != 0; };
  const caller computes{rt, caller::does::compute};
  CHECK(waits_for_thefts(0));
  CHECK_FALSE(waits_for_thefts(1));
  const caller blocked{rt}; // which is seen after a while
  const auto patience = std::chrono::steady_clock::now() + 30s;
  bool waits = false;
  while (!waits && std::chrono::steady_clock::now() < patience) {
    std::this_thread::yield();
    waits = waits_for_thefts(0);
  }
  CHECK(waits);
  CHECK_FALSE(waits_for_thefts(1));
}

TEST_CASE("queued work that waits for a CPU has that of a call that ends") {
  const auto cpus = std::max<std::size_t>(2, executors::usable_cpus());
  std::atomic<bool> ends{false};
  std::atomic<std::size_t> running{0};
  runtime rt{config_of(cpus)};
  auto add = [&] {
    REQUIRE(rt.compute().submit(task::make([&](executors::executor&) {
      ++running;
      while (!ends)
        std::this_thread::yield();
    })));
  };
  for (std::size_t i = 1; i <= cpus / 2; ++i) {
    add();
    while (running < i)
      std::this_thread::yield();
  }
  std::deque<caller> others;
  while (cpus / 2 + others.size() < cpus)
    others.emplace_back(rt, caller::does::compute);
  add();
  others.pop_back();
  CHECK(cpus - rt.compute().num_idle() > cpus / 2); // not first when the backstop looks
  ends = true;
}

TEST_CASE("a caller that waits for a merge takes parts of its computation, and of no other") {
  runtime rt{config_of(2)};
  const auto self = std::this_thread::get_id();
  std::atomic<bool> taken{false};
  std::atomic<bool> helped{false};
  const auto patience = std::chrono::steady_clock::now() + 10s;
  rt.run([&](member& m) {
    m.fork_merge(
      [&](member& k) {
        while (!taken && std::chrono::steady_clock::now() < patience)
          k.poll();
      },
      [&](member& k) {
        taken = true;
        while (!helped && std::chrono::steady_clock::now() < patience)
          k.fork_merge([](member&) { compute_for(200us); },
                       [&](member&) {
                         if (std::this_thread::get_id() == self)
                           helped = true;
                       });
      });
  });
  CHECK(taken);
  CHECK(helped);
}

TEST_CASE("a call whose time is over, or that was stopped, does not begin") {
  runtime rt{config_of(1)};
  int ran = 0;
  CHECK_THROWS_AS(
    rt.run({.deadline = std::chrono::steady_clock::now() - 1ms}, [&](member&) { ++ran; }),
    cancelled);
  std::stop_source source;
  source.request_stop();
  CHECK_THROWS_AS(rt.run({.stop = source.get_token()}, [&](member&) { ++ran; }), cancelled);
  CHECK(ran == 0);
  CHECK(rt.stats().cancelled == 2);
}

TEST_CASE("a runtime that is cancelled ends what callers run, and stop() waits for it") {
  runtime rt{config_of(2)};
  std::atomic<bool> began{false};
  std::atomic<bool> was_cancelled{false};
  std::jthread thread{[&] {
    try {
      rt.run([&](member& m) {
        began = true;
        began.notify_all();
        for (;;)
          m.poll();
      });
    } catch (const cancelled&) {
      was_cancelled = true;
    }
  }};
  began.wait(false);
  rt.cancel();
  rt.stop(executors::stop_mode::drain);
  CHECK(rt.stats().computations_now == 0);
  CHECK_THROWS_AS(rt.run([](member&) {}), runtime_stopped);
  thread.join();
  CHECK(was_cancelled);
}

TEST_CASE("a runtime that was stopped before anybody called refuses") {
  runtime rt{config_of(1)};
  rt.stop(executors::stop_mode::discard);
  CHECK_THROWS_AS(rt.run([](member&) {}), runtime_stopped);
}

TEST_CASE("a runtime that stops names callers that stay longer than it has patience") {
  runtime rt{config_of(1)};
  {
    const caller guest{rt};
    auto who = rt.stop(executors::stop_mode::discard, 1ms);
    while (who.size() == 1 && who.front().executor == "basal.cpu0") // has not had a CPU since
      who = rt.stop(executors::stop_mode::discard, 1ms);
    REQUIRE(who.size() == 1);
    CHECK(who.front().executor == "basal.call0");
    CHECK_THROWS_AS(rt.run([](member&) {}), runtime_stopped);
  }
  CHECK(rt.stop(executors::stop_mode::discard, 10min).empty());
}
