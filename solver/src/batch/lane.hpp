#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>

#include <basal/executors/completion.hpp>
#include <basal/executors/work_item.hpp>
#include <basal/solver/detail/permits.hpp>
#include <basal/solver/detail/scratch_pool.hpp>
#include <basal/solver/detail/work_queue.hpp>
#include <basal/solver/errors.hpp>

#include "core.hpp"

namespace basal::solver {

class job;

/// Why a unit does not begin.
enum class refusal : std::uint8_t { too_busy, timed_out, cancelled, stopped };

/// One of the threads of control of a job, a work item for as long as it runs. It
/// does units of the job, one after the other, each with a permit. When it must wait
/// for one it is nothing but an entry in the queue of the permits.
///
/// Permit and scratch memory stay with it from one unit to the next until somebody
/// waits for a permit, or it lets other work run: both are words that all executors
/// share, and to take them for each solve of some microseconds costs as much as half of it.
class alignas(64) lane final : private permits::waiter {
public:
  explicit lane(job& owner) noexcept : owner_(owner) {
  }

  /// Submits it to the pool; if that has stopped, its units fail on this thread.
  void schedule() noexcept;

  /// Runs it on the calling thread until its job has no more units for it.
  void run_here() noexcept;

  /// If it waits for a permit, it stops doing so and goes on as refusal::cancelled.
  void stop_waiting() noexcept;

  /// Between ticks: lets other work have its turn. @returns whether to go on.
  bool look() noexcept;

  /// Memory for the unit that runs, aligned to 64; what it was given before is void.
  /// Nothing if the scratch pool has none.
  std::optional<std::span<std::byte>> scratch(std::size_t bytes) noexcept;

  work_range units;

private:
  enum class ended : bool { no, yes };

  ended run(executors::executor* self) noexcept;
  bool next_unit() noexcept;
  bool get_permit() noexcept;
  bool turn_is_over() const noexcept;
  void yield() noexcept;
  void give_back() noexcept;
  void answered(permits::verdict v) noexcept override;

  static const executors::work_ops ops;

  job& owner_;
  std::optional<std::uint32_t> unit_; ///< claimed, not yet done
  bool has_permit_ = false;
  scratch_pool::lease scratch_;
  std::optional<refusal> refused_;              ///< why it got no permit
  executors::executor* self_ = nullptr;         ///< while it runs
  std::uint64_t turn_start_ = 0;                ///< tick_clock
  std::optional<executors::completion> parked_; ///< without a pool: what run_here() waits for
};

/// Some units of work for a batch_solver's pool and the lanes that do them. Deletes
/// itself when all are done.
class job {
public:
  job(batch_solver::core& shared, std::stop_token stop);
  virtual ~job();

  job(const job&) = delete;
  job& operator=(const job&) = delete;

  /// Starts the lanes; `this` may be gone when it returns. Without a pool it returns
  /// when all units are done.
  void start(std::uint32_t units);

  /// Why units should not begin, or go on.
  std::optional<refusal> stop_reason() const noexcept;

  batch_solver::core& shared() const noexcept {
    return shared_;
  }

  // -- for lanes --------------------------------------------------------------

  /// Does a unit, which must not throw: what fails is an outcome.
  virtual void run_unit(std::uint32_t unit, lane& on) noexcept = 0;

  /// Ends a unit without doing it.
  virtual void refuse_unit(std::uint32_t unit, refusal why) noexcept = 0;

  const std::stop_token& stop_token() const noexcept {
    return stop_;
  }

  std::optional<std::uint32_t> steal_for(lane& thief) noexcept;

  void lane_ended() noexcept;

private:
  /// All units are done.
  virtual void finish() noexcept = 0;

  void withdraw_lanes() noexcept;

  batch_solver::core& shared_;
  std::stop_token stop_;
  std::deque<lane> lanes_; // constant while they run; a deque because lanes do not move

  /// Lanes that have not ended, and withdraw_lanes() while it looks at them. Acquire
  /// and release: whoever brings it to 0 sees what all lanes wrote.
  std::atomic<std::size_t> alive_{0};

  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

} // namespace basal::solver
