#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <basal/solver/detail/plan_cache.hpp>
#include <basal/solver/detail/scratch_pool.hpp>
#include <basal/solver/solve_options.hpp>
#include <basal/solver/solve_result.hpp>

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
  std::uint64_t waiting = 0;          ///< requests that have neither begun nor failed, now
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

/// Solves that ended with a result of one method, since the start.
struct method_stats {
  /// Limits of `took`: 1 us to 16.8 s, each four times the one before.
  static constexpr std::size_t limits = 13;

  /// Place in `took` of a time. One that is equal to a limit is within it.
  static constexpr std::size_t place_of(std::uint64_t ns) noexcept {
    const auto whole = ns == 0 ? 0 : (ns - 1) / 1000; // microseconds that are exceeded
    const auto place = (static_cast<std::size_t>(std::bit_width(whole)) + 1) / 2;
    return place < limits ? place : limits;
  }

  solver::method method = solver::method::automatic; ///< that made x
  std::array<std::uint64_t, state_count> ended{};    ///< by the number of their state
  std::uint64_t latency_ns = 0;                      ///< from permit to result, summed

  /// How many took at most 1 us * 4^k, and longer than the limit before; the last one: longer than
  /// all limits.
  std::array<std::uint64_t, limits + 1> took{};
};

/// Counters of running solves.
enum class counter : std::uint8_t {
  submitted, ///< requests
  taken,     ///< of these; begun, or refused
  failed,
  rejected,
  timed_out,
  cancelled,
  batches,
  ticks,
  neumann_terms,
  walks,
  blocks,
  nested,
};

/// Numbers that any thread may add to. Each thread adds to one of several copies, which have
/// cache lines of their own: a solve of two microseconds adds to six counters, and executors that
/// took six lines from each other every microsecond would spend a fifth of their time on it.
struct counter_copies {
  /// Threads beyond this share copies.
  static constexpr std::size_t size = 16;

  /// The calling thread's: one of the numbers below `size`.
  static std::size_t of_this_thread() noexcept;
};

/// A number for each counter, in copies. Relaxed: statistics, nobody acts on them.
class shared_counters {
public:
  /// Any thread; one relaxed addition.
  void add(counter which, std::uint64_t n = 1) noexcept {
    copies_[counter_copies::of_this_thread()].values[static_cast<std::size_t>(which)].fetch_add(
      n, std::memory_order_relaxed);
  }

  /// The sum over all copies. Any thread.
  std::uint64_t get(counter which) const noexcept {
    std::uint64_t sum = 0;
    for (const auto& c : copies_)
      sum += c.values[static_cast<std::size_t>(which)].load(std::memory_order_relaxed);
    return sum;
  }

private:
  static constexpr auto counters = static_cast<std::size_t>(counter::nested) + 1;

  struct alignas(64) copy {
    std::array<std::atomic<std::uint64_t>, counters> values{};
  };

  std::array<copy, counter_copies::size> copies_;
};

/// Counts of solves for each method, in copies. Relaxed, as shared_counters.
class method_counters {
public:
  method_counters();

  /// Any thread; three relaxed additions.
  void add(method made_x, state end, std::uint64_t latency_ns) noexcept;

  /// The sums over all copies, one for each method. Any thread.
  std::vector<method_stats> get() const;

  /// The same of all methods together. Any thread.
  method_stats total() const noexcept;

private:
  struct alignas(64) entry {
    std::array<std::atomic<std::uint64_t>, state_count> ended{};
    std::array<std::atomic<std::uint64_t>, method_stats::limits + 1> took{};
    std::atomic<std::uint64_t> latency_ns{0};

    void add_to(method_stats& sum) const noexcept;
  };

  std::vector<entry> entries_; ///< of copy c and method m: c * methods + m
};

} // namespace basal::solver
