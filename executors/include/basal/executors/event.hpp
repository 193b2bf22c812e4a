#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include <basal/executors/completion.hpp>

namespace basal::executors {

/// The time `limit` from now, if that is later; at most the end of time.
template <class Rep, class Period>
std::chrono::steady_clock::time_point deadline_after(std::chrono::duration<Rep, Period> limit) {
  using clock = std::chrono::steady_clock;
  const auto now = clock::now();
  // In double: a limit in days overflows nanoseconds.
  const std::chrono::duration<double, std::nano> wanted = limit;
  const std::chrono::duration<double, std::nano> possible = clock::time_point::max() - now;
  if (!(wanted.count() > 0)) // NaN is no time to wait, either
    return now;
  if (!(wanted < possible))
    return clock::time_point::max();
  return now + std::chrono::duration_cast<clock::duration>(wanted);
}

/// One party that waits for whatever comes first of two: being woken, or a
/// deadline. A fiber on an executor is suspended meanwhile, a thread sleeps.
/// Lives in the waiting frame; is in a list of whoever may wake it, and must be
/// out of that list, under its lock, before the frame goes.
class waiter {
public:
  waiter() = default;
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;

  /// Ends the wait unless it has ended. Any thread, any number of times.
  void wake() noexcept {
    // One of those who wake and the deadline sets the completion, which takes
    // one set() only. Acquire and release: it is handed what they know.
    if (!claimed_.exchange(true, std::memory_order_acq_rel))
      done_.set();
  }

  /// Returns when woken or when `deadline` has passed. Once.
  void wait_until(std::chrono::steady_clock::time_point deadline) noexcept;

private:
  std::atomic<bool> claimed_{false};
  completion done_;
};

/// Something that happens once, for any number of waiters, each with a
/// deadline. Any thread.
class event {
public:
  event() = default;
  event(const event&) = delete;
  event& operator=(const event&) = delete;

  /// True once set() was called; then what the setter wrote is visible.
  bool is_set() const noexcept {
    return (word_.load(std::memory_order_acquire) & set_bit) != 0;
  }

  /// Wakes all who wait. A second call has no effect. One read-modify-write
  /// when nobody waits. The caller keeps the event alive.
  void set() noexcept;

  /// Returns when the event has happened. On an executor the fiber is suspended, else the thread
  /// sleeps.
  void wait() noexcept {
    wait_until(std::chrono::steady_clock::time_point::max());
  }

  /// @returns whether the event has happened.
  bool wait_until(std::chrono::steady_clock::time_point deadline) noexcept;

private:
  static constexpr std::uint32_t set_bit = 1;
  static constexpr std::uint32_t waiters_bit = 2;

  struct node;

  /// Acquire and release. The waiters bit is set under the lock, before the
  /// waiter sleeps, by a read-modify-write as set()'s is: one of the two sees
  /// the other.
  std::atomic<std::uint32_t> word_{0};
  node* first_ = nullptr; ///< under the lock that event.cpp keeps for this address
};

} // namespace basal::executors
