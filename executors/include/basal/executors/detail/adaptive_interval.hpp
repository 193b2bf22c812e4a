#pragma once

#include <algorithm>
#include <cstdint>

namespace basal::executors {

/// How many tasks an executor runs from its own queues before it looks at the
/// injection queue first, so that work from outside waits about a millisecond
/// however short the tasks are. Single-threaded.
///
/// Source: Volt's adaptive global-queue interval. The average is exponential
/// with weight 0.1 for the newest batch; interval = clamp(1 ms / average, 8,
/// 255), integer arithmetic. Deviation: the interval counts tasks, not ticks of
/// up to 128 tasks, which would miss the target 128-fold.
class adaptive_interval {
public:
  static constexpr std::uint64_t target_ns = 1'000'000;
  static constexpr std::uint32_t min_interval = 8;
  static constexpr std::uint32_t max_interval = 255;
  static constexpr std::uint64_t initial_average_ns = 50'000;

  /// Takes in that a batch of `tasks` tasks ran for `batch_ns` nanoseconds.
  /// An empty batch changes nothing.
  void record(std::uint64_t batch_ns, std::uint32_t tasks) noexcept {
    if (tasks == 0)
      return;
    auto sample = batch_ns / tasks;
    average_ns_ = std::max<std::uint64_t>(1, (sample + 9 * average_ns_) / 10);
  }

  /// Average run time of a task, in nanoseconds, at least 1.
  std::uint64_t average_ns() const noexcept {
    return average_ns_;
  }

  /// Tasks until the next look at the injection queue: 8 to 255.
  std::uint32_t tasks() const noexcept {
    return tasks_for(average_ns_);
  }

  static constexpr std::uint32_t tasks_for(std::uint64_t average_ns) noexcept {
    auto wanted = target_ns / std::max<std::uint64_t>(1, average_ns);
    return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(wanted, min_interval, max_interval));
  }

private:
  std::uint64_t average_ns_ = initial_average_ns;
};

} // namespace basal::executors
