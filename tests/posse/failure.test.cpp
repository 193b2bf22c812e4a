#include <basal/posse/posse.hpp>

#include "support/catch.hpp"

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>

using namespace basal::posse;

namespace {

runtime_config config_of(std::size_t executors) {
  runtime_config config;
  config.compute_executors = executors;
  config.quantum = runtime_config::min_quantum;
  return config;
}

std::string error_of(runtime& rt, auto body) {
  try {
    rt.run(body);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(what);
}

// Forks until its right branch is stolen: the left one goes on until then.
template <class Right>
void with_stolen_right(runtime& rt, member& m, Right right, auto after_theft) {
  auto victim = std::this_thread::get_id();
  std::atomic<bool> stolen{false};
  m.fork_merge(
    [&](member& k) {
      while (!stolen)
        k.poll();
      after_theft(k);
    },
    [&](member& k) {
      stolen = std::this_thread::get_id() != victim;
      right(k);
    });
  (void)rt;
}

} // namespace

TEST_CASE("if left fails, right does not run and left's error comes out") {
  runtime rt{config_of(1)};
  bool right_ran = false;
  CHECK(error_of(rt,
                 [&](member& m) {
                   m.fork_merge([](member&) { fail("left"); }, [&](member&) { right_ran = true; });
                 })
        == "left");
  CHECK_FALSE(right_ran);
}

TEST_CASE("right's error comes out if left succeeds") {
  runtime rt{config_of(1)};
  CHECK(
    error_of(rt, [](member& m) { m.fork_merge([](member&) {}, [](member&) { fail("right"); }); })
    == "right");
}

TEST_CASE("a stolen branch's error comes out at the merge") {
  runtime rt{config_of(2)};
  CHECK(error_of(rt,
                 [&](member& m) {
                   with_stolen_right(
                     rt, m, [](member&) { fail("stolen"); }, [](member&) {});
                 })
        == "stolen");
  CHECK(rt.stats().failed_merges == 1);
  CHECK(rt.stats().failed == 1); // the computation
}

TEST_CASE("left's error wins over a stolen right one's, and waits for it") {
  runtime rt{config_of(2)};
  std::atomic<bool> right_ended{false};
  CHECK(error_of(rt,
                 [&](member& m) {
                   with_stolen_right(
                     rt, m,
                     [&](member&) {
                       std::this_thread::sleep_for(std::chrono::milliseconds{5});
                       right_ended = true;
                       fail("right");
                     },
                     [](member&) { fail("left"); });
                 })
        == "left");
  CHECK(right_ended); // the frame it worked on was still there
}

TEST_CASE("a computation goes on after it caught a branch's error") {
  runtime rt{config_of(1)};
  auto result = rt.run([](member& m) {
    int sum = 0;
    for (int i = 0; i < 10; ++i) {
      try {
        m.fork_merge([](member&) {}, [](member&) { fail("caught"); });
      } catch (const std::runtime_error&) {
        ++sum;
      }
      auto [a, b] = m.fork_merge([](member&) { return 1; }, [](member&) { return 2; });
      sum += a + b;
    }
    return sum;
  });
  CHECK(result == 40);
}

TEST_CASE("cancelling a runtime ends its computations at their next safepoint") {
  runtime rt{config_of(2)};
  std::atomic<bool> begun{false};
  std::thread canceller{[&] {
    while (!begun)
      std::this_thread::yield();
    rt.cancel();
  }};
  CHECK_THROWS_AS(rt.run([&](member& m) {
    begun = true;
    for (;;)
      m.poll();
  }),
                  cancelled);
  canceller.join();
}

TEST_CASE("a stopped runtime says so instead of waiting for ever") {
  runtime rt{config_of(1)};
  rt.stop(basal::executors::stop_mode::drain);
  CHECK_THROWS_AS(rt.run([](member&) {}), runtime_stopped);
  CHECK_THROWS_AS(rt.offload([](member&) { return 1; }), runtime_stopped);
}

TEST_CASE("a bad configuration is an error with a sentence") {
  CHECK_THROWS_WITH(runtime{config_of(0)},
                    "basal: pool \"basal.cpu\": executors is 0; it must be between 1 and 4096");
  auto config = config_of(1);
  config.quantum = std::chrono::microseconds{1};
  CHECK_THROWS_WITH(runtime{config},
                    "basal: quantum is 1000 ns; it must be between 50000 and 10000000 ns");
}
