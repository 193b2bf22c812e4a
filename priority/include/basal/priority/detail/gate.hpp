#pragma once

#include <atomic>
#include <cstdint>

#include <basal/executors/detail/assert.hpp>

namespace basal::priority::detail {

/// Counts what is inside and closes once: the life of a pool in one word, so
/// that "nothing comes in any more" and "nothing is left" cannot be seen in the
/// wrong order. Any thread; lock-free.
///
/// Word: bit 0 closed, the rest the number inside. Acquire and release on every
/// change: who sees the last one leave sees all that happened inside.
///
/// `Atomic` is a template parameter so that tests can run the same code under a
/// controlled scheduler.
template <template <class> class Atomic = std::atomic>
class basic_gate {
public:
  /// @returns false when the gate is closed; then nothing was counted.
  bool enter() noexcept {
    // A compare-exchange, not an addition that is undone when closed: after
    // closing the number must only fall, or "empty" would be seen twice.
    auto seen = word_.load(std::memory_order_relaxed);
    do {
      if ((seen & closed_bit) != 0)
        return false;
    } while (!word_.compare_exchange_weak(seen, seen + one, std::memory_order_acq_rel,
                                          std::memory_order_relaxed));
    return true;
  }

  /// @returns whether that was the last one and the gate is closed: true for
  ///          exactly one caller, unless close() returned it.
  bool leave() noexcept {
    const auto before = word_.fetch_sub(one, std::memory_order_acq_rel);
    BASAL_ASSERT(before >= one, "who leaves has entered");
    return before == (one | closed_bit);
  }

  /// @returns whether this call closed the gate and nothing was inside.
  bool close() noexcept {
    return word_.fetch_or(closed_bit, std::memory_order_acq_rel) == 0;
  }

  bool closed() const noexcept {
    return (word_.load(std::memory_order_acquire) & closed_bit) != 0;
  }

  std::uint64_t inside() const noexcept {
    return word_.load(std::memory_order_acquire) / one;
  }

private:
  static constexpr std::uint64_t closed_bit = 1;
  static constexpr std::uint64_t one = 2;

  Atomic<std::uint64_t> word_{0};
};

using gate = basic_gate<>;

} // namespace basal::priority::detail
