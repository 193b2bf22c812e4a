#include <basal/solver/detail/tick_scheduler.hpp>

#include "support/catch.hpp"

#include <cmath>
#include <utility>
#include <vector>

using namespace basal::solver;
using namespace std::chrono_literals;

namespace {

/// A series with the ratio `ratio`: the residual is 1 after the first term, and
/// shrinks by the ratio with each further one.
struct series {
  double ratio = 0.5;
  double tolerance = 1e-6;
  double next = 1;

  step_report step() {
    const double residual = std::exchange(next, next * ratio);
    return {residual, residual <= tolerance ? state::converged : state::running};
  }
};

/// Never converges; advances a clock by `cost` of each tick.
struct endless {
  std::chrono::nanoseconds* time = nullptr;
  std::chrono::nanoseconds cost = 0ns;

  step_report step() {
    if (time != nullptr)
      *time += cost;
    return {1, state::running};
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

TEST_CASE("a series converges after ln(tolerance) / ln(ratio) terms and the first tick") {
  for (double ratio : {0.01, 0.178, 0.5, 0.9, 0.95}) {
    CAPTURE(ratio);
    series program{ratio};
    auto result = run_ticks(program, without_limit);
    CHECK(result.state == state::converged);
    CHECK(result.exhausted == budget_kind::none);
    CHECK(static_cast<double>(result.ticks)
          == Approx(std::ceil(std::log(1e-6) / std::log(ratio)) + 1).margin(1.01));
    CHECK(result.residual <= 1e-6);
    CHECK(result.residual > 1e-6 * ratio * 0.999);
  }
}

TEST_CASE("a budget of ticks ends the solve with exactly that tick") {
  for (std::uint64_t ticks : {1u, 2u, 7u, 100'000u}) {
    endless program;
    auto result = run_ticks(program, {.ticks = ticks});
    CHECK(result.state == state::budget_exhausted);
    CHECK(result.exhausted == budget_kind::ticks);
    CHECK(result.ticks == ticks);
    CHECK(result.residual == 1);
  }
}

TEST_CASE("a tick is an iteration: the lower one of both budgets ends the solve") {
  endless program;
  auto result = run_ticks(program, {.ticks = 9, .iterations = 5});
  CHECK(result.exhausted == budget_kind::iterations);
  CHECK(result.ticks == 5);
  result = run_ticks(program, {.ticks = 5, .iterations = 9});
  CHECK(result.exhausted == budget_kind::ticks);
  CHECK(result.ticks == 5);
}

TEST_CASE("a budget of 0 ends the solve before its first tick") {
  series program{0.01};
  for (auto limits : {budget{.ticks = 0}, budget{.iterations = 0}, budget{.time = 0ns}}) {
    auto result = run_ticks(program, limits);
    CHECK(result.state == state::budget_exhausted);
    CHECK(result.exhausted != budget_kind::none);
    CHECK(result.ticks == 0);
  }
  CHECK(program.next == 1); // nothing was run
}

TEST_CASE("a solve that converges with its last allowed tick has converged") {
  series program{0.1, 1.5e-3};
  CHECK(run_ticks(program, {.ticks = 4}).state == state::converged);
}

TEST_CASE("a time budget ends with the tick in which it falls, and few looks at the clock") {
  for (auto cost : {1ns, 13ns, 1000ns, 50'000ns}) {
    for (auto allowed : {2000ns, 77'777ns, 1'000'000ns}) {
      CAPTURE(cost.count(), allowed.count());
      std::chrono::nanoseconds now = 123456789ns;
      endless program{&now, cost};
      auto result = run_ticks(program, {.ticks = budget::unlimited, .time = allowed},
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
    step_report step() {
      cost = ++ticks < 1000 ? 10ns : 20ns;
      return endless::step();
    }
  };
  std::chrono::nanoseconds now = 0ns;
  slowing program;
  program.time = &now;
  auto result = run_ticks(program, {.ticks = budget::unlimited, .time = 20us}, nobody_looks{},
                          hand_clock{&now});
  CHECK(result.exhausted == budget_kind::time);
  CHECK(now >= 20us);
  CHECK(now <= 25us);
}

TEST_CASE("without a time limit and an observer the clock is not read") {
  endless program;
  auto result = run_ticks(program, {.ticks = 10'000});
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
  auto result = run_ticks(program, {.ticks = budget::unlimited}, observer, hand_clock{&now});
  CHECK(result.state == state::running);
  CHECK(looks.front() == 1us);
  for (std::size_t i = 1; i < looks.size(); ++i)
    CHECK(looks[i] - looks[i - 1] <= 100us);
  CHECK(looks.size() <= 16);
}

TEST_CASE("a step that does not say running ends the solve with what it says") {
  struct program {
    state last;
    int left = 3;

    step_report step() {
      return {0.25, --left > 0 ? state::running : last};
    }
  };
  for (const auto last : {state::converged, state::stalled, state::diverged}) {
    program ends{last};
    const auto result = run_ticks(ends, without_limit);
    CHECK(result.state == last);
    CHECK(result.exhausted == budget_kind::none);
    CHECK(result.ticks == 3);
    CHECK(result.residual == 0.25);
  }
}
