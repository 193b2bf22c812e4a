#pragma once

#include <atomic>
#include <cstdint>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/fwd.hpp>

namespace basal::executors {

/// The order in which waiter and setter come to a one-shot event, and so whether the setter has a
/// waiter to wake. Goes pending -> set, or pending -> waiting -> set.
///
/// `Atomic` is a template parameter so that tests can run the same code under a
/// controlled scheduler.
template <template <class> class Atomic = std::atomic>
class basic_completion_state {
public:
  /// True once set() was called; then what the setter wrote is visible.
  bool is_set() const noexcept {
    return state_.load(std::memory_order_acquire) == set_value;
  }

  /// The waiter is about to sleep; the setter sees what it wrote before.
  /// @returns false when set() came first, and will wake nobody.
  bool start_waiting() noexcept {
    auto expected = pending;
    const bool waits = state_.compare_exchange_strong(expected, waiting, std::memory_order_acq_rel,
                                                      std::memory_order_acquire);
    BASAL_ASSERT(waits || expected == set_value, "one party waits for a completion");
    return waits;
  }

  /// Once, any thread.
  /// @returns whether the caller must wake the waiter. If not, the waiter may
  ///          have gone on already, and this object with it.
  bool set() noexcept {
    // Acquire: what the waiter wrote. Release: what the setter wrote.
    const auto before = state_.exchange(set_value, std::memory_order_acq_rel);
    BASAL_ASSERT(before != set_value, "a completion is set once");
    return before == waiting;
  }

private:
  static constexpr std::uint32_t pending = 0;
  static constexpr std::uint32_t waiting = 1;
  static constexpr std::uint32_t set_value = 2;

  Atomic<std::uint32_t> state_{pending};
};

/// A one-shot event that one party waits for: a fiber on an executor, which is
/// suspended while the executor runs other work, or a plain thread, which
/// sleeps.
///
/// Protocol. The waiter writes `fiber_` or `parker_` and then starts to wait;
/// set() reads them only if it has a waiter. The waiter owns the object: set()
/// touches it last when it wakes a waiter that sleeps.
class completion {
public:
  completion() = default;
  completion(const completion&) = delete;
  completion& operator=(const completion&) = delete;

  /// True once set() was called; then what the setter wrote is visible.
  bool is_set() const noexcept {
    return state_.is_set();
  }

  /// Returns when the event has happened. At most one caller, once.
  void wait() noexcept;

  /// Announces the event. Once, any thread.
  void set() noexcept;

private:
  basic_completion_state<> state_;
  fiber* fiber_ = nullptr;
  parker* parker_ = nullptr;
};

} // namespace basal::executors
