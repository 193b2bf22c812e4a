#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <basal/solver/detail/plan_cache.hpp>
#include <basal/solver/detail/scratch_pool.hpp>

namespace basal::solver {

/// Counts of a batch_solver so far; a snapshot whose fields may be a few events apart. All counts
/// since the start. A request ends as exactly one of converged, stalled, diverged, budget_exhausted
/// and failed.
struct solver_stats {
  std::uint64_t solves_completed = 0; ///< ended with a result, whichever its state
  std::uint64_t converged = 0;        ///< of these
  std::uint64_t stalled = 0;          ///< of these
  std::uint64_t diverged = 0;         ///< of these
  std::uint64_t budget_exhausted = 0; ///< of these
  std::uint64_t failed = 0;           ///< ended with an error; see the next ones
  std::uint64_t rejected = 0;         ///< of these, errc::too_busy
  std::uint64_t timed_out = 0;        ///< errc::timed_out
  std::uint64_t cancelled = 0;        ///< errc::cancelled
  std::uint64_t batches = 0;          ///< begun
  std::uint64_t ticks = 0;            ///< dispatches of the tick scheduler
  std::uint64_t neumann_terms = 0;    ///< of these
  std::uint64_t walks = 0;            ///< random walks
  std::uint64_t latency_ns = 0;       ///< of completed solves, from permit to result, summed
  std::uint64_t blocks = 0;           ///< groups of right-hand sides that were solved together
  std::uint64_t running = 0;          ///< permits in use now
  std::uint64_t events_lost = 0;      ///< by slow subscribers
  std::uint64_t nested_calls = 0;     ///< caught by the guard
  scratch_stats scratch;              ///< of the memory that solves borrow
  plan_cache_stats plans;             ///< of requests without a plan

  /// Share of completed solves that converged, 0 to 1; 0 if there are none.
  double convergence_rate() const noexcept {
    return ratio(converged);
  }

  /// Dispatches per completed solve; 0 while none is.
  double ticks_per_solve() const noexcept {
    return ratio(ticks);
  }

  /// From permit to result, of completed solves; 0 while none is.
  std::chrono::nanoseconds mean_latency() const noexcept {
    return std::chrono::nanoseconds{static_cast<std::int64_t>(ratio(latency_ns))};
  }

private:
  double ratio(std::uint64_t sum) const noexcept {
    return solves_completed == 0 ? 0.0
                                 : static_cast<double>(sum) / static_cast<double>(solves_completed);
  }
};

/// Counters of running solves.
enum class counter : std::uint8_t {
  completed,
  converged,
  stalled,
  diverged,
  exhausted,
  failed,
  rejected,
  timed_out,
  cancelled,
  batches,
  ticks,
  neumann_terms,
  walks,
  latency_ns,
  blocks,
  nested,
};

/// A number for each counter, which any thread may add to. Each thread adds to one of
/// several copies, which have cache lines of their own: a solve of two microseconds
/// adds to six counters, and executors that took six lines from each other every
/// microsecond would spend a fifth of their time on it. Relaxed: statistics,
/// nobody acts on them.
class shared_counters {
public:
  /// Any thread; one relaxed addition.
  void add(counter which, std::uint64_t n = 1) noexcept {
    copies_[copy_of_this_thread()].values[static_cast<std::size_t>(which)].fetch_add(
      n, std::memory_order_relaxed);
  }

  /// The sum over all copies. Any thread.
  std::uint64_t get(counter which) const noexcept {
    std::uint64_t sum = 0;
    for (const auto& c : copies_)
      sum += c.values[static_cast<std::size_t>(which)].load(std::memory_order_relaxed);
    return sum;
  }

  /// Threads beyond this share copies.
  static constexpr std::size_t copies = 16;

private:
  static constexpr auto counters = static_cast<std::size_t>(counter::nested) + 1;

  struct alignas(64) copy {
    std::array<std::atomic<std::uint64_t>, counters> values{};
  };

  static std::size_t copy_of_this_thread() noexcept;

  std::array<copy, copies> copies_;
};

} // namespace basal::solver
