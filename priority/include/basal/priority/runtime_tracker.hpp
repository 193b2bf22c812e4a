#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <basal/priority/detail/futex_lock.hpp>
#include <basal/priority/detail/windowed_quantile.hpp>
#include <basal/priority/stats.hpp>
#include <basal/priority/task_key.hpp>

namespace basal::priority {

/// Learns how long tasks of each type take: the median of the latest runtimes.
///
/// The table is capped. It is made of sets of eight types, as a cache is; where a
/// set is full the type not recorded for longest is forgotten. So with more than
/// about half as many types as the cap some may be forgotten early.
///
/// Any thread. estimate() takes no lock and writes nothing; record() holds one
/// lock of its set and then one for all, for some 20 ns each.
class runtime_tracker {
public:
  /// Runtimes outside of these are taken as the nearer one, and counted as
  /// clamped: negative or zero when the clock steps, infinite from elsewhere. A
  /// NaN is taken as the shortest.
  /// @{
  static constexpr double shortest_s = 1e-9;
  static constexpr double longest_s = 3600;
  /// @}

  /// Below this many runtimes of a type the median of all types is used.
  static constexpr std::uint64_t enough = 5;

  /// @param max_types at least 1
  /// @throws std::invalid_argument
  explicit runtime_tracker(std::size_t max_types);
  ~runtime_tracker();

  runtime_tracker(const runtime_tracker&) = delete;
  runtime_tracker& operator=(const runtime_tracker&) = delete;

  /// The median runtime of `type` in seconds; of all tasks while fewer than
  /// `enough` of it are known; 0 when none is.
  double estimate_s(task_key type) const noexcept {
    const auto known = find(type);
    return known >= 0 ? known : global_median_.load(std::memory_order_relaxed);
  }

  /// A task of `type` took `runtime`.
  void record(task_key type, std::chrono::duration<double> runtime) noexcept;

  /// Its counts and medians. Any thread; counts may be a few records apart.
  runtime_stats stats() const noexcept;

private:
  static constexpr std::size_t ways = 8;
  static constexpr double not_enough = -1;

  /// Eight types: their keys in one cache line, their medians in the next.
  ///
  /// Both are written under the lock and read without. A key that is replaced is first removed,
  /// then its median, then the new one is stored, each in release. A reader of key, median, key,
  /// all in acquire, that finds the same key twice has the median of that key: had the median been
  /// a later one, the second look would find the key gone.
  struct set {
    alignas(64) std::array<std::atomic<std::uint64_t>, ways> keys{};
    std::array<std::atomic<double>, ways> medians{};
    detail::futex_lock lock;
    std::uint64_t clock = 0;                           ///< records so far
    std::array<std::uint64_t, ways> used{};            ///< the clock at each one's last
    std::unique_ptr<windowed_quantile[]> estimators{}; ///< made at the first record
  };

  /// 0 stands for no key.
  static std::uint64_t stored(task_key type) noexcept {
    return type.value() + 1 != 0 ? type.value() + 1 : 1;
  }

  set& set_of(std::uint64_t key) const noexcept {
    // The upper half of a product spreads keys over any number of sets.
    return sets_[static_cast<std::size_t>((key >> 32) * set_count_ >> 32)];
  }

  double find(task_key type) const noexcept {
    const auto key = stored(type);
    const auto& s = set_of(key);
    for (std::size_t i = 0; i < ways; ++i) {
      if (s.keys[i].load(std::memory_order_acquire) != key)
        continue;
      const auto median = s.medians[i].load(std::memory_order_acquire);
      if (s.keys[i].load(std::memory_order_acquire) == key)
        return median;
    }
    return not_enough;
  }

  void record_type(std::uint64_t key, double runtime_s) noexcept;

  const std::size_t set_count_;
  const std::size_t used_ways_; ///< eight, or all when the cap is less
  const std::unique_ptr<set[]> sets_;

  alignas(64) detail::futex_lock global_lock_;
  windowed_quantile global_; ///< under its lock
  /// Written under the lock, read by anybody. Relaxed: an
  /// estimate may be a little old.
  std::atomic<double> global_median_{0};
  std::atomic<std::uint64_t> recorded_{0}; ///< written under the lock
  std::atomic<std::uint64_t> clamped_{0}, evicted_{0};
  std::atomic<std::size_t> types_{0};
};

} // namespace basal::priority
