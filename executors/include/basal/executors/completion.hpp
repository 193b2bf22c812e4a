#pragma once

#include <atomic>
#include <cstdint>

#include <basal/executors/fwd.hpp>

namespace basal::executors {

/// A one-shot event that one party waits for: a fiber on an executor, which is
/// suspended while the executor runs other work, or a plain thread, which
/// sleeps.
///
/// Protocol. `state_` goes pending -> set, or pending -> waiting -> set. The
/// waiter writes `fiber_` or `parker_` before it moves to `waiting` (release);
/// set() reads them after its exchange (acquire) returned `waiting`. What the
/// setter wrote before set() is visible to the waiter. The waiter owns the
/// object: after its exchange, set() touches it only if the waiter still
/// sleeps, and its last act is to wake it.
class completion {
public:
  completion() = default;
  completion(const completion&) = delete;
  completion& operator=(const completion&) = delete;

  /// True once set() was called; then what the setter wrote is visible.
  bool is_set() const noexcept {
    return state_.load(std::memory_order_acquire) == set_value;
  }

  /// Returns when the event has happened. At most one caller, once.
  void wait() noexcept;

  /// Announces the event. Once, any thread.
  void set() noexcept;

private:
  static constexpr std::uint32_t pending = 0;
  static constexpr std::uint32_t waiting = 1;
  static constexpr std::uint32_t set_value = 2;

  bool start_waiting() noexcept;

  std::atomic<std::uint32_t> state_{pending};
  fiber* fiber_ = nullptr;
  parker* parker_ = nullptr;
};

} // namespace basal::executors
