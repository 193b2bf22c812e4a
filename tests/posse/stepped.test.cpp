// Computations on executors without threads, with a clock that the test moves.

#include <basal/executors/completion.hpp>
#include <basal/executors/detail/tick_clock.hpp>
#include <basal/executors/sequential_scope.hpp>
#include <basal/posse/posse.hpp>

#include "support/catch.hpp"

#include <vector>

using namespace basal;
using namespace std::chrono_literals;

namespace {

std::uint64_t time_now = 0;

void pass(std::chrono::nanoseconds time) {
  time_now += executors::tick_clock::to_ticks(time);
}

posse::runtime_config stepped(std::size_t executors, std::uint64_t seed) {
  time_now = executors::tick_clock::to_ticks(1s);
  posse::runtime_config config;
  config.compute_executors = executors;
  config.steal_by = posse::hysteresis::quantum;
  config.simulate = {.ticks = []() noexcept { return time_now; }, .seed = seed, .stepped = true};
  return config;
}

// Runs `body` as a computation on one of the runtime's executors.
struct started {
  posse::runtime& host;
  std::function<void(posse::member&)> body;

  static const executors::work_ops ops;
};

constexpr executors::work_ops started::ops{
  [](void* object, executors::executor&) noexcept {
    auto& s = *static_cast<started*>(object);
    s.host.run([&s](posse::member& m) { s.body(m); });
  },
  nullptr,
};

void run(posse::runtime& host, std::function<void(posse::member&)> body) {
  started s{host, std::move(body)};
  REQUIRE(host.compute().submit({&s, &started::ops}));
  host.compute().run_until_idle();
}

// A tree whose leaves take 50 us each; where they ran is the result.
void leaves(posse::member& m, int depth, std::vector<std::size_t>& ran_on) {
  if (depth == 0) {
    pass(50us);
    ran_on.push_back(m.executor().index());
    return;
  }
  m.fork_merge([&](posse::member& l) { leaves(l, depth - 1, ran_on); },
               [&](posse::member& r) { leaves(r, depth - 1, ran_on); });
}

// Polls until the right branch is stolen. How long that took, if the fork comes
// that long after the computation's first safepoint; 0: it is the first.
std::chrono::nanoseconds time_to_theft(posse::member& m, posse::runtime& host,
                                       std::chrono::microseconds forks_after) {
  for (auto t = 0us; t < forks_after; t += 1us) {
    m.poll();
    pass(1us);
  }
  auto start = time_now;
  m.fork_merge(
    [&](posse::member& l) {
      while (host.stats().thefts == 0) {
        pass(1us);
        l.poll();
      }
    },
    [](posse::member&) {});
  return executors::tick_clock::to_duration(time_now - start);
}

constexpr posse::pure<time_to_theft> pure_time_to_theft{"time_to_theft"};

std::vector<std::size_t> trace_of(std::uint64_t seed) {
  posse::runtime host{stepped(2, seed)};
  host.compute().run_until_idle(); // only a sleeper can be given work
  std::vector<std::size_t> ran_on;
  run(host, [&](posse::member& m) { leaves(m, 8, ran_on); });
  CHECK(host.stats().thefts > 0);
  CHECK(host.stats().merges == host.stats().thefts);
  return ran_on;
}

} // namespace

TEST_CASE("a computation that reaches safepoints does not outrun its quantum") {
  posse::runtime host{stepped(1, 1)};
  run(host, [](posse::member& m) {
    for (int i = 0; i < 10'000; ++i) {
      pass(1us);
      m.poll();
    }
  });
  CHECK(host.compute().at(0).stats().overruns == 0);
  CHECK(host.compute().at(0).stats().quantum_ends >= 40);
  run(host, [](posse::member& m) {
    m.poll();
    pass(10ms);
    m.executor().raise_attention(); // as the backstop does
    m.poll();
  });
  CHECK(host.compute().at(0).stats().overruns == 1);
  CHECK(host.compute().at(0).stats().overrun_quanta == 50);
}

TEST_CASE("what a computation begins with is stolen after one quantum, what comes later after two "
          "ends") {
  struct {
    std::chrono::microseconds forks_after;
    std::chrono::microseconds theft_after; // at least; then comes a look that ends a quantum
    std::uint64_t quanta;
  } const cases[] = {{0us, 200us, 1}, {1us, 399us, 2}, {50us, 350us, 2}, {190us, 210us, 2}};
  for (const auto& c : cases) {
    INFO("forks after " << c.forks_after.count() << " us");
    posse::runtime host{stepped(2, 1)};
    host.compute().run_until_idle();
    std::chrono::nanoseconds waited{};
    run(host, [&](posse::member&) { waited = pure_time_to_theft(host, host, c.forks_after); });
    CHECK(waited >= c.theft_after);
    CHECK(waited <= c.theft_after + 60us);
    auto stats = host.stats();
    CHECK(stats.quanta == c.quanta);
    REQUIRE(stats.functions.size() == 1);
    CHECK(stats.functions[0].quanta == c.quanta);
  }
}

TEST_CASE("a computation that ends within its first quantum loses nothing to an idle executor") {
  posse::runtime host{stepped(2, 1)};
  host.compute().run_until_idle();
  for (int i = 0; i < 100; ++i)
    run(host, [](posse::member& m) {
      m.fork_merge(
        [](posse::member& l) {
          for (int us = 0; us < 150; ++us) {
            pass(1us);
            l.poll();
          }
        },
        [](posse::member&) { pass(1us); });
    });
  CHECK(host.stats().thefts == 0);
  CHECK(host.stats().computations == 100);
}

TEST_CASE("the same seed gives the same thefts") {
  const auto first = trace_of(3);
  CHECK(first.size() == 256);
  CHECK(first == trace_of(3));
}

namespace {

/// Forks whose left branch takes ten quanta.
void long_fork(posse::member& m, auto right) {
  m.fork_merge(
    [](posse::member& l) {
      for (int i = 0; i < 200; ++i) {
        pass(10us);
        l.poll();
      }
    },
    right);
}

/// Waits on its fiber, inside of a scope.
struct waiter {
  executors::completion& go_on;

  static const executors::work_ops ops;
};

constexpr executors::work_ops waiter::ops{
  [](void* object, executors::executor&) noexcept {
    const executors::sequential_scope scope;
    static_cast<waiter*>(object)->go_on.wait();
  },
  nullptr,
};

} // namespace

TEST_CASE("what is forked inside of a sequential scope runs in place, whoever is idle") {
  for (std::size_t executors : {2, 3}) {
    posse::runtime host{stepped(executors, 1)};
    host.compute().run_until_idle(); // only a sleeper can be given work
    const auto nothing = [](posse::member&) {};
    const auto thefts = [&] { return host.stats().thefts; };
    run(host, [&](posse::member& m) {
      {
        const executors::sequential_scope scope;
        for (int i = 0; i < 10; ++i)
          long_fork(m, nothing);
        CHECK(thefts() == 0);
        // Another computation on the same fiber is inside, too.
        host.run([&](posse::member& inner) { long_fork(inner, nothing); });
        CHECK(thefts() == 0);
      }
      const auto inside = host.stats().verdicts[posse::theft_verdict::in_sequence];
      CHECK(inside > 0);
      long_fork(m, nothing);
      CHECK(thefts() == 1);
    });
  }
}

TEST_CASE("what was forked before a sequential scope began may be stolen in it") {
  posse::runtime host{stepped(2, 1)};
  host.compute().run_until_idle();
  run(host, [&](posse::member& m) {
    auto [inside, right] = m.fork_merge(
      [&](posse::member& l) {
        const executors::sequential_scope scope;
        long_fork(l, [](posse::member&) {});
        return l.executor().index();
      },
      [](posse::member& r) {
        CHECK_FALSE(executors::sequential_scope::active());
        return r.executor().index();
      });
    CHECK(inside != right);
  });
  CHECK(host.stats().thefts == 1);
}

TEST_CASE("a sequential scope on one fiber leaves the others of its thread alone") {
  posse::runtime host{stepped(2, 1)};
  host.compute().run_until_idle();
  executors::completion go_on;
  waiter w{go_on};
  REQUIRE(host.compute().submit({&w, &waiter::ops}));
  host.compute().run_until_idle();
  for (int i = 0; i < 4; ++i) // on both executors, in whatever order
    run(host, [&](posse::member& m) { long_fork(m, [](posse::member&) {}); });
  CHECK(host.stats().thefts == 4);
  go_on.set();
  host.compute().run_until_idle();
}
