#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <basal/posse/runtime.hpp>

namespace basal::posse {

/// Raises the attention of executors that run members, every few milliseconds,
/// for leaves that suddenly take long: a countdown learned from short ones
/// would take its time to run out. It sleeps for good while nothing runs.
///
/// A member arms it at its first look at the clock. Once awake it stays so
/// until it saw no member for `ticks_to_sleep` ticks in a row, so that a burst
/// of computations wakes it once. A member that comes in the very moment it
/// falls asleep goes without: that costs time, never correctness.
class runtime::backstop {
public:
  explicit backstop(runtime& host);
  ~backstop();

  /// Any thread; a relaxed load unless it sleeps.
  void arm() noexcept {
    if (!awake_.load(std::memory_order_relaxed))
      wake();
  }

private:
  static constexpr std::chrono::milliseconds tick{5};
  static constexpr int ticks_to_sleep = 4;

  void wake() noexcept;
  void thread_main() noexcept;
  bool raise_attention() noexcept;

  runtime& host_;
  std::atomic<bool> awake_{false}; ///< written under the mutex
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;
};

} // namespace basal::posse
