#include <basal/executors/completion.hpp>
#include <basal/executors/executor_pool.hpp>
#include <basal/posse/posse.hpp>

#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <stop_token>
#include <thread>

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

/// Forks without end, in a tree, so that all executors have a part in it.
void for_ever(member& m, int depth) {
  if (depth == 0) {
    for (int i = 0; i < 1000; ++i)
      m.poll();
    return;
  }
  for (;;)
    m.fork_merge([=](member& k) { for_ever(k, depth - 1); },
                 [=](member& k) { for_ever(k, depth - 1); });
}

constexpr pure<for_ever> pure_for_ever{"for_ever"};

cancel_reason reason_of(auto call) {
  try {
    call();
  } catch (const cancelled& e) {
    return e.reason();
  }
  return cancel_reason::none;
}

} // namespace

TEST_CASE("a stop token ends a computation on all its executors") {
  for (std::size_t executors = 1; executors <= 3; ++executors) {
    runtime rt{config_of(executors)};
    std::stop_source source;
    std::jthread stopper{[&] {
      if (executors > 1)
        while (rt.stats().thefts == 0)
          std::this_thread::yield();
      source.request_stop();
    }};
    CHECK(reason_of([&] { pure_for_ever.with({.stop = source.get_token()})(rt, 3); })
          == cancel_reason::stop_requested);
    auto stats = rt.stats();
    CHECK(stats.cancelled == 1);
    CHECK(stats.failed == 0);
    CHECK(stats.computations_now == 0);
    CHECK(stats.delegates_now == 0);
    CHECK(rt.run([](member&) { return 7; }) == 7); // the runtime goes on
  }
}

TEST_CASE("a deadline ends a computation, offloaded or not") {
  runtime rt{config_of(2)};
  auto soon = [] { return std::chrono::steady_clock::now() + 5ms; };
  CHECK(reason_of([&] { pure_for_ever.with({.deadline = soon()})(rt, 2); })
        == cancel_reason::deadline);
  CHECK(reason_of([&] { pure_for_ever.with({.deadline = soon()}).offload(rt, 2); })
        == cancel_reason::deadline);
}

TEST_CASE("what is cancelled before it begins does not begin") {
  runtime rt{config_of(1)};
  std::stop_source source;
  source.request_stop();
  bool began = false;
  CHECK(reason_of(
          [&] { rt.run(call_options{.stop = source.get_token()}, [&](member&) { began = true; }); })
        == cancel_reason::stop_requested);
  CHECK_FALSE(began);
}

TEST_CASE("a probe ends a computation at the end of a quantum") {
  runtime rt{config_of(2)};
  int asked = 0; // by one member at a time
  interrupt_probe probe{[](void* context) noexcept { return ++*static_cast<int*>(context) == 5; },
                        &asked};
  CHECK(reason_of([&] { pure_for_ever.with({.probe = probe})(rt, 3); })
        == cancel_reason::owner_killed);
  CHECK(asked == 5);
}

TEST_CASE("who swallows the cancellation is cancelled again") {
  runtime rt{config_of(1)};
  std::stop_source source;
  int times = 0;
  CHECK(reason_of([&] {
          rt.run(call_options{.stop = source.get_token()}, [&](member& m) {
            source.request_stop();
            for (;;)
              try {
                m.poll();
              } catch (const cancelled&) {
                if (++times == 3)
                  throw;
              }
          });
        })
        == cancel_reason::stop_requested);
  CHECK(times == 3);
}

// The stolen branch would never end by itself, and its own thefts neither.
TEST_CASE("if left fails, a stolen right branch is cancelled with all that it lost") {
  runtime rt{config_of(3)};
  std::atomic<bool> right_began{false};
  std::atomic<bool> not_needed{false};
  auto call = [&](member& m) {
    auto victim = std::this_thread::get_id();
    std::atomic<bool> stolen{false};
    m.fork_merge(
      [&](member& k) {
        while (!stolen)
          k.poll();
        throw std::runtime_error("left");
      },
      [&](member& k) {
        stolen = std::this_thread::get_id() != victim;
        right_began = true;
        not_needed = reason_of([&] { for_ever(k, 4); }) == cancel_reason::not_needed;
      });
  };
  CHECK_THROWS_WITH(rt.run(call), "left");
  CHECK(right_began);
  CHECK(not_needed);
  CHECK(rt.stats().delegates_now == 0);
}

namespace {

/// Keeps the only executor of a runtime busy while it lives, with something that has no safepoint.
class blocker {
public:
  explicit blocker(runtime& rt)
    : thread_([this, &rt] {
        rt.offload([this](member&) {
          busy_ = true;
          busy_.notify_all();
          go_on_.wait(false);
        });
      }) {
    busy_.wait(false);
  }

  ~blocker() {
    go_on_ = true;
    go_on_.notify_all();
  }

private:
  std::atomic<bool> busy_{false};
  std::atomic<bool> go_on_{false};
  std::jthread thread_;
};

/// Runs `body` on an executor, so that who waits in it is a fiber.
struct on_fiber {
  std::function<void()> body;
  executors::completion done = {};

  static const executors::work_ops ops;
};

constexpr executors::work_ops on_fiber::ops{
  [](void* object, executors::executor&) noexcept {
    auto& self = *static_cast<on_fiber*>(object);
    self.body();
    self.done.set();
  },
  nullptr,
};

void on_client(executors::executor_pool& pool, std::function<void()> body) {
  on_fiber f{std::move(body)};
  REQUIRE(pool.submit({&f, &on_fiber::ops}));
  f.done.wait();
}

} // namespace

// It noticed its deadline when it began: a second late, if what came first took a second.
TEST_CASE("a call that waits for a busy executor ends at its deadline, or when it is stopped") {
  executors::pool_config clients;
  clients.name = "clients";
  std::atomic<int> ran{0};
  executors::executor_pool pool{std::move(clients)};
  runtime rt{config_of(1)};
  {
    const blocker busy{rt};
    const auto deadline_passes = [&] {
      const auto deadline = std::chrono::steady_clock::now() + 50ms;
      const auto why
        = reason_of([&] { rt.offload({.deadline = deadline}, [&](member&) { ++ran; }); });
      CHECK(std::chrono::steady_clock::now() >= deadline);
      return why;
    };
    CHECK(deadline_passes() == cancel_reason::deadline);
    on_client(pool, [&] { CHECK(deadline_passes() == cancel_reason::deadline); });
    const auto is_stopped = [&] {
      std::stop_source source;
      std::jthread stopper{[&] {
        std::this_thread::sleep_for(5ms); // probably after it was queued; either is right
        source.request_stop();
      }};
      return reason_of([&] { rt.offload({.stop = source.get_token()}, [&](member&) { ++ran; }); });
    };
    CHECK(is_stopped() == cancel_reason::stop_requested);
    on_client(pool, [&] { CHECK(is_stopped() == cancel_reason::stop_requested); });
    CHECK(rt.stats().cancelled == 4);
    CHECK(rt.stats().computations == 1); // the blocker
  }
  CHECK(rt.run([](member&) { return 7; }) == 7); // items left in the queue are harmless
  CHECK(ran == 0);
}

TEST_CASE("a call with limits that it keeps returns what it returns") {
  runtime rt{config_of(1)};
  std::stop_source source;
  const call_options limits{.stop = source.get_token(),
                            .deadline = std::chrono::steady_clock::now() + 1h};
  CHECK(rt.offload(limits, [](member&) { return 8; }) == 8);
}
