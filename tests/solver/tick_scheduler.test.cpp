#include <basal/solver/tick_scheduler.hpp>

#include "support/catch.hpp"

#include <cmath>
#include <limits>
#include <vector>

using namespace basal::solver;
using namespace std::chrono_literals;

namespace {

/// A series with the ratio `ratio`: the residual is 1 after the first term, and
/// shrinks by the ratio with each further one.
struct series {
  double ratio = 0.5;
  double next = 1;

  void seed(task_queue& queue) {
    queue.post(task_kind::term);
  }

  task_report run(task_kind, task_queue& queue) {
    queue.post(task_kind::term);
    return {.residual = std::exchange(next, next * ratio), .iterated = true};
  }
};

/// Never converges; advances a clock by `cost` of each tick.
struct endless {
  std::chrono::nanoseconds* time = nullptr;
  std::chrono::nanoseconds cost = 0ns;

  void seed(task_queue& queue) {
    queue.post(task_kind::term);
  }

  task_report run(task_kind, task_queue& queue) {
    if (time != nullptr)
      *time += cost;
    queue.post(task_kind::term);
    return {.residual = 1, .iterated = true};
  }
};

struct hand_clock {
  const std::chrono::nanoseconds* time;
  std::chrono::nanoseconds operator()() const {
    return *time;
  }
};

constexpr budget without_limit{.ticks = budget::unlimited};

} // namespace

TEST_CASE("the queue takes reductions before terms before walks, and one of each") {
  task_queue queue;
  CHECK(queue.empty());
  CHECK(queue.post(task_kind::walk));
  CHECK(queue.post(task_kind::term));
  CHECK(queue.post(task_kind::reduce));
  CHECK_FALSE(queue.post(task_kind::term));
  CHECK(queue.take() == task_kind::reduce);
  CHECK(queue.post(task_kind::reduce)); // it no longer waits
  CHECK(queue.take() == task_kind::reduce);
  CHECK(queue.take() == task_kind::term);
  CHECK(queue.take() == task_kind::walk);
  CHECK(queue.empty());
}

TEST_CASE("a series converges after ln(tolerance) / ln(ratio) terms and the first tick") {
  for (double ratio : {0.01, 0.178, 0.5, 0.9, 0.95}) {
    CAPTURE(ratio);
    series program{ratio};
    auto result = run_ticks(program, 1e-6, without_limit);
    CHECK(result.state == state::converged);
    CHECK(result.exhausted == budget_kind::none);
    CHECK(static_cast<double>(result.ticks)
          == Approx(std::ceil(std::log(1e-6) / std::log(ratio)) + 1).margin(1.01));
    CHECK(result.iterations == result.ticks);
    CHECK(result.residual <= 1e-6);
    CHECK(result.residual > 1e-6 * ratio * 0.999);
  }
}

TEST_CASE("a budget of ticks ends the solve with exactly that tick") {
  for (std::uint64_t ticks : {1u, 2u, 7u, 100'000u}) {
    endless program;
    auto result = run_ticks(program, 1e-6, {.ticks = ticks});
    CHECK(result.state == state::budget_exhausted);
    CHECK(result.exhausted == budget_kind::ticks);
    CHECK(result.ticks == ticks);
    CHECK(result.residual == 1);
  }
}

TEST_CASE("a budget of iterations counts iterations, not ticks") {
  struct every_third {
    int count = 0;
    void seed(task_queue& queue) {
      queue.post(task_kind::walk);
    }
    task_report run(task_kind, task_queue& queue) {
      queue.post(task_kind::walk);
      return {.residual = 1, .iterated = ++count % 3 == 0};
    }
  } program;
  auto result = run_ticks(program, 0, {.ticks = budget::unlimited, .iterations = 5});
  CHECK(result.exhausted == budget_kind::iterations);
  CHECK(result.iterations == 5);
  CHECK(result.ticks == 15);
}

TEST_CASE("a budget of 0 ends the solve before its first tick") {
  series program{0.01};
  for (auto limits : {budget{.ticks = 0}, budget{.iterations = 0}, budget{.time = 0ns}}) {
    auto result = run_ticks(program, 1e-6, limits);
    CHECK(result.state == state::budget_exhausted);
    CHECK(result.exhausted != budget_kind::none);
    CHECK(result.ticks == 0);
  }
  CHECK(program.next == 1); // nothing was run
}

TEST_CASE("a solve that converges with its last allowed tick has converged") {
  series program{0.1};
  CHECK(run_ticks(program, 1.5e-3, {.ticks = 4}).state == state::converged);
}

TEST_CASE("a time budget ends with the tick in which it falls, and few looks at the clock") {
  for (auto cost : {1ns, 13ns, 1000ns, 50'000ns}) {
    for (auto allowed : {2000ns, 77'777ns, 1'000'000ns}) {
      CAPTURE(cost.count(), allowed.count());
      std::chrono::nanoseconds now = 123456789ns;
      endless program{&now, cost};
      auto result = run_ticks(program, 0, {.ticks = budget::unlimited, .time = allowed},
                              nobody_looks{}, hand_clock{&now});
      CHECK(result.exhausted == budget_kind::time);
      auto expected = (allowed + cost - 1ns) / cost;
      CHECK(result.ticks == static_cast<std::uint64_t>(expected));
      // Twice in 100 us, then one each time that the rest has halved, and before
      // that until the rate is known.
      CHECK(result.clock_reads <= 60);
      CHECK(result.clock_reads <= result.ticks + 1);
    }
  }
}

TEST_CASE("ticks that become slower overshoot a time budget by half of the rest at most") {
  struct slowing : endless {
    std::uint64_t ticks = 0;
    task_report run(task_kind kind, task_queue& queue) {
      cost = ++ticks < 1000 ? 10ns : 20ns;
      return endless::run(kind, queue);
    }
  };
  std::chrono::nanoseconds now = 0ns;
  slowing program;
  program.time = &now;
  auto result = run_ticks(program, 0, {.ticks = budget::unlimited, .time = 20us}, nobody_looks{},
                          hand_clock{&now});
  CHECK(result.exhausted == budget_kind::time);
  CHECK(now >= 20us);
  CHECK(now <= 25us);
}

TEST_CASE("without a time limit and an observer the clock is not read") {
  endless program;
  auto result = run_ticks(program, 0, {.ticks = 10'000});
  CHECK(result.clock_reads == 0);
}

TEST_CASE("an observer can end the solve, and is asked again within 100 us") {
  std::chrono::nanoseconds now = 0ns;
  endless program{&now, 1us};
  std::vector<std::chrono::nanoseconds> looks;
  auto observer = [&] {
    looks.push_back(now);
    return now < 1ms;
  };
  auto result = run_ticks(program, 0, {.ticks = budget::unlimited}, observer, hand_clock{&now});
  CHECK(result.state == state::running);
  CHECK(looks.front() == 1us);
  for (std::size_t i = 1; i < looks.size(); ++i)
    CHECK(looks[i] - looks[i - 1] <= 100us);
  CHECK(looks.size() <= 16);
}

TEST_CASE("a program without further tasks has stalled") {
  struct short_lived {
    int left = 3;
    void seed(task_queue& queue) {
      queue.post(task_kind::term);
    }
    task_report run(task_kind, task_queue& queue) {
      if (--left > 0)
        queue.post(task_kind::term);
      return {.residual = 0.25};
    }
  } program;
  auto result = run_ticks(program, 1e-6, without_limit);
  CHECK(result.state == state::stalled);
  CHECK(result.ticks == 3);
  CHECK(result.residual == 0.25);
  struct empty {
    void seed(task_queue&) {
    }
    task_report run(task_kind, task_queue&) {
      return {};
    }
  } nothing;
  result = run_ticks(nothing, 1e-6, without_limit);
  CHECK(result.state == state::stalled);
  CHECK(result.ticks == 0);
}

TEST_CASE("a residual that is no number, or a task that says so, ends a solve as diverged") {
  struct program {
    task_report answer;
    void seed(task_queue& queue) {
      queue.post(task_kind::term);
    }
    task_report run(task_kind, task_queue& queue) {
      queue.post(task_kind::term);
      return answer;
    }
  };
  program not_a_number{{.residual = std::numeric_limits<double>::quiet_NaN()}};
  CHECK(run_ticks(not_a_number, 1e-6, without_limit).state == state::diverged);
  program says_so{{.residual = 1, .state = state::diverged}};
  CHECK(run_ticks(says_so, 1e-6, without_limit).state == state::diverged);
}

TEST_CASE("what a task posts runs in the order of the kinds") {
  struct program {
    std::vector<task_kind> order;
    void seed(task_queue& queue) {
      queue.post(task_kind::walk);
      queue.post(task_kind::term);
    }
    task_report run(task_kind kind, task_queue& queue) {
      order.push_back(kind);
      if (kind == task_kind::walk)
        queue.post(task_kind::reduce);
      if (kind == task_kind::reduce) {
        queue.post(task_kind::walk);
        queue.post(task_kind::term);
      }
      return {.residual = 1};
    }
  } ran;
  run_ticks(ran, 0, {.ticks = 6});
  using enum task_kind;
  CHECK(ran.order == std::vector{term, walk, reduce, term, walk, reduce});
}
