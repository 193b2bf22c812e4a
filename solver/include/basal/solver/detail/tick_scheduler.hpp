#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstdint>

#include <basal/executors/detail/tick_clock.hpp>
#include <basal/solver/budget.hpp>
#include <basal/solver/solve_result.hpp>

// The loop inside one solve: runs a step, compares what it says, goes on.
//
// After the `SolverScheduler` of RuVector's ADR-STS-009, with these readings. A
// tick is one dispatch of a step, not a period of time: reading a clock costs
// more than the 98 ns that it names. The residual is maintained by the step that
// changes it, and judged there, so that the check for convergence is one
// comparison. The source's queue of tasks is gone: a solve runs one method, and a
// method has one kind of step, which is always followed by the next one, so that
// nothing ever waits and there is no order to keep. For the same reason there is
// no queue to run empty: a method that has no next step says that it has stalled.

namespace basal::solver {

/// A program for the scheduler, such as a stepper. `step` does one step and says how far the solve
/// has come; any state except `running` ends the solve with it. It neither allocates nor blocks,
/// and starts no parallel work.
template <class Program>
concept tick_program = requires(Program& program) {
  { program.step() } -> std::same_as<step_report>;
};

struct tick_result {
  /// How it ended; `running` if the observer ended it.
  solver::state state = solver::state::running;
  budget_kind exhausted = budget_kind::none; ///< the limit, if state is budget_exhausted
  std::uint64_t ticks = 0;                   ///< steps that were run
  std::uint64_t clock_reads = 0;
  double residual = 1; ///< after the last tick; 1 before the first, as for a guess of 0
};

/// Time since some fixed point.
struct tick_time {
  std::chrono::nanoseconds operator()() const noexcept {
    return executors::tick_clock::to_duration(executors::tick_clock::now());
  }
};

/// For run_ticks() without an observer.
struct nobody_looks {
  constexpr bool operator()() const noexcept {
    return true;
  }
};

namespace detail {

/// Decides after how many ticks to look at the clock again: a look costs more
/// than a cheap tick. From the rate since the last look, the next one is half
/// way to the deadline, so that few are needed and the last ones come tick by
/// tick; and at most `longest_gap` away, for the observer's sake.
class look_interval {
public:
  /// How late an observer may be: half of the default quantum.
  static constexpr std::chrono::nanoseconds longest_gap = std::chrono::microseconds{100};

  /// The rate is a guess at first: an interval is at most this many times as
  /// long as the last one.
  static constexpr std::uint64_t growth = 4;

  look_interval(std::chrono::nanoseconds start, std::chrono::nanoseconds allowed) noexcept
    : last_look_(start),
      deadline_(allowed < std::chrono::nanoseconds::max() - start
                  ? start + allowed
                  : std::chrono::nanoseconds::max()) {
  }

  /// @returns whether the time is over.
  bool expired(std::chrono::nanoseconds now) const noexcept {
    return now >= deadline_;
  }

  /// Ticks until the next look, at least 1.
  std::uint64_t next(std::chrono::nanoseconds now) noexcept {
    auto elapsed = std::max<std::int64_t>(1, (now - last_look_).count());
    auto per_tick = static_cast<double>(elapsed) / static_cast<double>(length_);
    auto gap = std::min(longest_gap, (deadline_ - now) / 2);
    auto wanted = static_cast<double>(gap.count()) / per_tick;
    auto longest = static_cast<double>(length_ * growth);
    length_ = static_cast<std::uint64_t>(std::clamp(wanted, 1.0, longest));
    last_look_ = now;
    return length_;
  }

private:
  std::chrono::nanoseconds last_look_;
  std::chrono::nanoseconds deadline_;
  std::uint64_t length_ = 1; ///< ticks between the last two looks
};

} // namespace detail

/// Runs `program` on the calling thread until a step reports another state than running, or
/// `limits` ends it. Allocates nothing and takes no lock. The state is looked at before the
/// budget, so a solve that converges with its last allowed tick has converged. A tick is an
/// iteration; a limit of either ends the solve. `limits.bytes` is for whoever provides the memory.
///
/// @param observer called after the first tick and then about every 100 us; may
///        suspend the calling fiber; false ends the run. Without an
///        observer and a time limit the clock is never read.
/// @param clock returns the time as std::chrono::nanoseconds since any point.
template <tick_program Program, class Observer = nobody_looks, class Clock = tick_time>
tick_result run_ticks(Program& program, const budget& limits, Observer observer = {},
                      Clock clock = {}) {
  tick_result result;
  auto end = [&result](solver::state how) {
    result.state = how;
    return result;
  };
  auto exhausted = [&](budget_kind limit) {
    result.exhausted = limit;
    return end(solver::state::budget_exhausted);
  };
  if (limits.ticks == 0)
    return exhausted(budget_kind::ticks);
  if (limits.iterations == 0)
    return exhausted(budget_kind::iterations);
  if (limits.time <= std::chrono::nanoseconds{0})
    return exhausted(budget_kind::time);

  const bool timed = limits.time != std::chrono::nanoseconds::max();
  const bool looks = timed || !std::same_as<Observer, nobody_looks>;
  auto read_clock = [&] {
    ++result.clock_reads;
    return std::chrono::nanoseconds{clock()};
  };
  detail::look_interval interval{looks ? read_clock() : std::chrono::nanoseconds{0}, limits.time};
  // One comparison a tick serves both: the next look, and the last tick.
  const auto most = std::min(limits.ticks, limits.iterations);
  auto next_look = looks ? std::uint64_t{1} : budget::unlimited;
  auto next_stop = std::min(next_look, most);

  for (;;) {
    const step_report report = program.step();
    ++result.ticks;
    result.residual = report.residual;
    if (report.state != solver::state::running)
      return end(report.state);
    if (result.ticks >= next_stop) [[unlikely]] {
      if (result.ticks >= most)
        return exhausted(limits.iterations <= limits.ticks ? budget_kind::iterations
                                                           : budget_kind::ticks);
      if (!observer())
        return end(solver::state::running);
      auto now = read_clock();
      if (interval.expired(now))
        return exhausted(budget_kind::time);
      next_look = result.ticks + interval.next(now);
      next_stop = std::min(next_look, most);
    }
  }
}

} // namespace basal::solver
