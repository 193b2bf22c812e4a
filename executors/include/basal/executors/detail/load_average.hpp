#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>

#include <basal/executors/detail/assert.hpp>

namespace basal::executors {

/// The share of its time that an executor spends running, decayed exponentially:
/// after one window without a change, 63 % of what it says is about that window.
/// One writer, which tells when running begins and ends, and any number of
/// readers, which reckon the rest up to now; so nobody has to tick for it.
///
/// State, share and time of the last change are one word, so that readers see
/// them together. Relaxed: a hint, with nothing published behind it.
class load_average {
public:
  /// @param window the time constant, in ticks of the clock that `now` comes from
  explicit load_average(std::uint64_t window) noexcept
    : units_per_window_(static_cast<double>(window) / ticks_per_unit) {
    BASAL_ASSERT(window > 0, "a load is that of a window");
  }

  /// Running begins or ends at `now`. Writer only.
  void set_running(bool running, std::uint64_t now) noexcept {
    word_.store(pack(at(now), running, now), std::memory_order_relaxed);
  }

  /// The load at `now`, 0 to 1. Any thread.
  double at(std::uint64_t now) const noexcept {
    auto word = word_.load(std::memory_order_relaxed);
    auto then = word >> time_shift;
    auto elapsed = (now / ticks_per_unit - then) & time_mask;
    if (elapsed > time_mask / 2)
      elapsed = 0; // the reader's clock is a little behind the writer's
    auto kept = std::exp(-static_cast<double>(elapsed) / units_per_window_);
    auto share = static_cast<double>((word >> 1) & share_mask) / share_mask;
    auto running = (word & 1) != 0 ? 1.0 : 0.0;
    return share * kept + running * (1 - kept);
  }

private:
  // 40 bits of time, some 2 us each on a processor of today: a sleeper's load is
  // right for weeks, and then rises once more for a moment.
  static constexpr std::uint64_t ticks_per_unit = 4096;
  static constexpr int time_shift = 24;
  static constexpr std::uint64_t time_mask = (std::uint64_t{1} << 40) - 1;
  static constexpr std::uint64_t share_mask = (std::uint64_t{1} << 23) - 1;

  static std::uint64_t pack(double share, bool running, std::uint64_t now) noexcept {
    return ((now / ticks_per_unit & time_mask) << time_shift)
           | (static_cast<std::uint64_t>(share * share_mask) << 1) | (running ? 1 : 0);
  }

  const double units_per_window_;
  std::atomic<std::uint64_t> word_{0};
};

} // namespace basal::executors
