#pragma once

#include <atomic>

namespace basal::executors {

/// Whether something has happened lately, as a clock counts that ticks only now and then: a read
/// costs a load, and no look at a clock. Any thread, but for tick(); lock-free.
class recently {
public:
  /// It happens now. @param ticks for how long to remember it, unless it is for longer already.
  /// @returns whether it had not happened lately
  bool note(int ticks) noexcept {
    auto left = left_.load(std::memory_order_relaxed);
    while (left < ticks && !left_.compare_exchange_weak(left, ticks, std::memory_order_seq_cst)) {
    }
    return left == 0;
  }

  /// In seq_cst, as note() writes: may be part of an answer to cpu_wish::ask().
  bool has_happened() const noexcept {
    return left_.load(std::memory_order_seq_cst) != 0;
  }

  /// From one thread. Where something happens at the same time, the tick comes before it.
  void tick() noexcept {
    if (auto left = left_.load(std::memory_order_relaxed); left != 0)
      left_.compare_exchange_strong(left, left - 1, std::memory_order_relaxed);
  }

private:
  std::atomic<int> left_{0};
};

} // namespace basal::executors
