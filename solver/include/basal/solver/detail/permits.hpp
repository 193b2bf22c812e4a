#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <thread>

#include <basal/solver/limits.hpp>

namespace basal::solver {

/// A counted number of permits. Nobody blocks: who finds none is queued and
/// called back, first come first served, and a permit that is given back passes
/// to the next in the queue at once. Any thread; a mutex, held for a few
/// instructions.
class permits {
public:
  enum class answer : std::uint8_t {
    granted,
    queued,   ///< waiter::answered() will be called, on any thread, maybe already
    rejected, ///< the policy is backpressure::reject, or closed, or stopped
  };

  enum class verdict : std::uint8_t { granted, timed_out, closed };

  /// One that wants a permit. Must stay where it is while it is queued.
  class waiter {
  public:
    waiter() = default;
    waiter(const waiter&) = delete;
    waiter& operator=(const waiter&) = delete;

    virtual ~waiter() = default;

  private:
    friend class permits;

    /// Called once for each time it was queued, unless withdraw() came first,
    /// without any lock. `this` is not touched afterwards.
    virtual void answered(verdict v) noexcept = 0;

    // Guarded by the mutex of the permits.
    waiter* previous_ = nullptr;
    waiter* next_ = nullptr;
    bool queued_ = false;
    std::chrono::steady_clock::time_point deadline_;
  };

  /// @param limits checked by the caller
  /// @throws std::system_error when waiting with a time limit cannot have its thread
  explicit permits(const solver_limits& limits);

  /// Nobody may be queued.
  ~permits();

  permits(const permits&) = delete;
  permits& operator=(const permits&) = delete;

  /// Takes a permit if there is one and nobody is queued; never queues.
  bool try_acquire() noexcept;

  /// Takes one, or does what the policy says. Does not queue when `stop` was used:
  /// so whoever reacts to it with withdraw() finds all who are queued.
  answer acquire(waiter& who, const std::stop_token& stop = {}) noexcept;

  /// Gives one back.
  void release() noexcept;

  /// Takes `who` out of the queue.
  /// @returns false if it was not in it: it has been answered, or will be.
  bool withdraw(waiter& who) noexcept;

  /// From now on everybody is rejected; those who are queued are answered.
  void close() noexcept;

  /// Whether somebody is queued: then those who hold a permit that they could do
  /// without should give it back. A load; may be late by a moment.
  bool anyone_waits() const noexcept {
    return anyone_waits_.load(std::memory_order_relaxed);
  }

  std::size_t in_use() const noexcept;

  std::size_t total() const noexcept {
    return total_;
  }

private:
  void push_locked(waiter& who) noexcept;
  void remove_locked(waiter& who) noexcept;
  void expire();

  const std::size_t total_;
  const backpressure policy_;
  const std::chrono::nanoseconds patience_;

  mutable std::mutex mutex_;
  std::size_t free_;
  waiter* first_ = nullptr;
  waiter* last_ = nullptr;
  bool closed_ = false;
  bool closing_ = false; ///< somebody answers those who wait
  bool stop_timer_ = false;

  /// Whether the queue is not empty, for those without the mutex. Relaxed: a hint; who
  /// misses it now sees it after the next solve.
  alignas(64) std::atomic<bool> anyone_waits_{false};

  // Only with backpressure::wait_timeout. All wait equally long, so the first in the queue is
  // the first to expire. Sleeps while nobody waits.
  std::condition_variable timer_wakes_;
  std::thread timer_;
};

} // namespace basal::solver
