#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include <basal/executors/detail/tick_clock.hpp>
#include <basal/executors/fwd.hpp>

namespace basal::executors {

/// How long a piece of work keeps executors busy: the time from its start to
/// stop() without that in which its fiber was suspended, and what others add for
/// parts that they ran.
///
/// Lives in the work's frame; the fiber pauses it when it is suspended. All
/// functions are the running work's own, but add().
///
/// The CPU clock is a system call (0.4 us for a start and a stop). With it, time
/// in which the kernel ran somebody else's thread does not count; time in which
/// the work blocked its thread does, since it kept its executor all the same.
/// Without it, both count, but after a stretch of 100 us and more the executor asks
/// the kernel what others had of it, if its pool keeps account
/// (executor_pool::want_own_time).
class stopwatch {
public:
  enum class precision {
    ticks,    ///< tick_clock alone: about 20 ns; 0.5 us after a stretch of 100 us
    cpu_clock ///< for work that takes 50 us and more
  };

  struct reading {
    std::chrono::nanoseconds busy;    ///< of all executors together
    std::chrono::nanoseconds elapsed; ///< from start to stop, by the wall clock
  };

  /// Starts. Work that is measured inside of other measured work counts for both.
  /// @param on the running fiber
  stopwatch(fiber& on, precision p) noexcept : stopwatch(on, p, tick_clock::now()) {
  }

  /// The same for who has just read the clock, which takes 10 to 20 ns.
  /// @param now tick_clock
  stopwatch(fiber& on, precision p, std::uint64_t now) noexcept;

  /// Stops, if nobody did.
  ~stopwatch();

  stopwatch(const stopwatch&) = delete;
  stopwatch& operator=(const stopwatch&) = delete;

  reading stop() noexcept;

  precision measures_by() const noexcept {
    return precision_;
  }

  /// Time that another executor spent for this work. Any thread, until the work
  /// has been told that the part is done.
  void add(std::chrono::nanoseconds busy) noexcept {
    // Relaxed: what tells the work of the part's end publishes it.
    added_ns_.fetch_add(busy.count(), std::memory_order_relaxed);
  }

private:
  friend class executor;

  void pause() noexcept;
  void go_on() noexcept;
  void start_stretch(std::uint64_t now) noexcept;
  void end_stretch(std::uint64_t now) noexcept;
  std::uint64_t own_ticks(std::uint64_t now) const noexcept;
  std::chrono::nanoseconds by_cpu_clock(std::chrono::nanoseconds by_wall_clock) const noexcept;

  fiber& on_;
  stopwatch* const outer_; ///< of work that this work is a part of, on the same fiber
  const precision precision_;
  bool running_ = true;
  std::uint64_t started_;       ///< tick_clock
  std::uint64_t stretch_start_; ///< tick_clock; a stretch ends where the fiber is suspended
  std::int64_t cpu_start_ns_ = 0;
  long blocked_before_ = 0;      ///< times that this thread has given up its CPU by itself
  std::int64_t lost_before_ = 0; ///< see executor::own_ticks
  std::int64_t busy_ns_ = 0;     ///< in stretches that have ended, with precision::cpu_clock
  std::uint64_t busy_ticks_ = 0; ///< the same with precision::ticks
  std::atomic<std::int64_t> added_ns_{0};
};

/// While it lives, what runs on this executor counts for `account`, too: the
/// stopwatch of the work that it is a part of; null: nobody wants to know.
class delegated_time {
public:
  delegated_time(executor& self, stopwatch* account) noexcept;
  ~delegated_time();

  delegated_time(const delegated_time&) = delete;
  delegated_time& operator=(const delegated_time&) = delete;

  /// The stopwatch of what this thread runs, or null. Any thread.
  static stopwatch* current_account() noexcept;

private:
  stopwatch* const account_;
  union {
    stopwatch own_; ///< alive if there is an account
  };
};

} // namespace basal::executors
