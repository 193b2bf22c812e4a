#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstdint>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/tick_clock.hpp>
#include <basal/solver/budget.hpp>
#include <basal/solver/solve_result.hpp>

// The loop inside one solve: takes a task, runs it, compares a scalar, goes on.
//
// After the `SolverScheduler` of RuVector's ADR-STS-009, with these readings. A
// tick is one dispatch of a task, not a period of time: reading a clock costs
// more than the 98 ns that it names. The residual is maintained by the task that
// changes it, so that the check for convergence is one comparison. At most one
// task of a kind is outstanding, so the queue cannot grow. A queue that is empty
// ends the solve as stalled instead of spinning until the budget's end.

namespace basal::solver {

/// What a solve is divided into, in the order of precedence: what finishes work
/// comes before what makes more of it.
enum class task_kind : std::uint8_t {
  reduce, ///< turns what others have gathered into a residual
  term,   ///< the next iteration, or term of a series
  walk,   ///< a batch of random walks
};

/// The tasks that wait: at most one of a kind, so that no order within a kind
/// can be broken and nothing is ever allocated. Not thread-safe.
class task_queue {
public:
  static constexpr unsigned kinds = 3;

  /// @returns false if a task of this kind waits already; then nothing changes.
  bool post(task_kind kind) noexcept {
    auto bit = 1u << static_cast<unsigned>(kind);
    auto added = (waiting_ & bit) == 0;
    waiting_ |= bit;
    return added;
  }

  bool empty() const noexcept {
    return waiting_ == 0;
  }

  /// Removes the task that comes first. The queue must not be empty.
  task_kind take() noexcept {
    BASAL_ASSERT(waiting_ != 0);
    auto kind = static_cast<task_kind>(std::countr_zero(waiting_));
    waiting_ &= waiting_ - 1;
    return kind;
  }

private:
  unsigned waiting_ = 0;
};

/// What a task says when it is done.
struct task_report {
  double residual = 1;                          ///< of the solve, as of now
  solver::state state = solver::state::running; ///< any other ends the solve with it
  bool iterated = false;                        ///< it was an iteration
};

/// What the scheduler runs. `seed` posts the first tasks; `run` does one task and
/// posts what follows from it. Neither may allocate, block, or start parallel work.
template <class Program>
concept tick_program = requires(Program& program, task_kind kind, task_queue& queue) {
  program.seed(queue);
  { program.run(kind, queue) } -> std::same_as<task_report>;
};

struct tick_result {
  /// How it ended; `running` if the observer ended it.
  solver::state state = solver::state::running;
  budget_kind exhausted = budget_kind::none; ///< the limit, if state is budget_exhausted
  std::uint64_t ticks = 0;                   ///< tasks that were run
  std::uint64_t iterations = 0;              ///< of these, those that were iterations
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

/// Runs `program` on the calling thread until its residual is at or below
/// `tolerance`, a task reports another state than running, no task is left
/// (stalled), the residual is not a number (diverged), or `limits` ends it.
/// Allocates nothing and takes no lock. Convergence is looked at before the
/// budget, so a solve that converges with its last allowed tick has converged.
/// `limits.bytes` is for whoever provides the memory.
///
/// @param observer called after the first tick and then about every 100 us; may
///        suspend the calling fiber; false ends the run. Without an
///        observer and a time limit the clock is never read.
/// @param clock returns the time as std::chrono::nanoseconds since any point.
template <tick_program Program, class Observer = nobody_looks, class Clock = tick_time>
tick_result run_ticks(Program& program, double tolerance, const budget& limits,
                      Observer observer = {}, Clock clock = {}) {
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
  auto next_look = looks ? std::uint64_t{1} : budget::unlimited;
  auto next_stop = std::min(next_look, limits.ticks);

  task_queue queue;
  program.seed(queue);
  while (!queue.empty()) {
    auto report = program.run(queue.take(), queue);
    ++result.ticks;
    result.iterations += report.iterated ? 1 : 0;
    result.residual = report.residual;
    if (report.residual <= tolerance)
      return end(solver::state::converged);
    if (report.state != solver::state::running) [[unlikely]]
      return end(report.state);
    if (std::isnan(report.residual)) [[unlikely]]
      return end(solver::state::diverged);
    if (result.iterations >= limits.iterations) [[unlikely]]
      return exhausted(budget_kind::iterations);
    if (result.ticks >= next_stop) [[unlikely]] {
      if (result.ticks >= limits.ticks)
        return exhausted(budget_kind::ticks);
      if (!observer())
        return end(solver::state::running);
      auto now = read_clock();
      if (interval.expired(now))
        return exhausted(budget_kind::time);
      next_look = result.ticks + interval.next(now);
      next_stop = std::min(next_look, limits.ticks);
    }
  }
  return end(solver::state::stalled);
}

} // namespace basal::solver
