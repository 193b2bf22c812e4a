#pragma once

#include <atomic>

namespace basal::executors {

/// Whether something has happened lately, as a clock counts that ticks only now and then: a read
/// costs a load, and no look at a clock. Any thread, but for tick(); wait-free.
class recently {
public:
  explicit recently(int ticks) noexcept : ticks_(ticks) {
  }

  /// It happens now. @returns whether it had not, lately
  bool note() noexcept {
    return left_.exchange(ticks_, std::memory_order_seq_cst) == 0;
  }

  /// In seq_cst: may be part of an answer to cpu_wish::ask().
  bool has_happened() const noexcept {
    return left_.load(std::memory_order_seq_cst) != 0;
  }

  /// From one thread. What happens at the same time is not forgotten.
  void tick() noexcept {
    if (auto left = left_.load(std::memory_order_relaxed); left != 0)
      left_.compare_exchange_strong(left, left - 1, std::memory_order_relaxed);
  }

private:
  const int ticks_;
  std::atomic<int> left_{0};
};

} // namespace basal::executors
