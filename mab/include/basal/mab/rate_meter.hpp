#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>

#include <basal/mab/pressure.hpp>

namespace basal::mab {

/// Events per second, recent ones weighing more (exponential, time constant 1 s
/// by default).
///
/// A window that is emptied every second reads 0 right after, and the pressure
/// would drop with it; this fades smoothly instead. The clock is the caller's:
/// time may stand still, but not run backwards (a step back counts as none).
///
/// Total: events that are no positive number count as none, the rate ends at
/// most_rate_per_s, and a time constant below a nanosecond is one.
///
/// Not thread-safe: one per executor, whose rates are added up.
class rate_meter {
public:
  using time = std::chrono::nanoseconds; ///< since any fixed moment

  /// Starts at 0 events per second.
  /// @param now on the clock of all later calls
  /// @param time_constant the time in which an event's weight falls to 1/e
  explicit rate_meter(time now, std::chrono::duration<double> time_constant
                                = std::chrono::seconds{1}) noexcept
    : last_(now), time_constant_s_(std::max(1e-9, time_constant.count())) {
  }

  /// `events` have happened at `now`, or since the last call.
  void count(time now, double events = 1) noexcept {
    fade(now);
    if (events > 0) // NaN is not; infinity over infinity gives NaN, and min() its first
      per_second_ = std::min(most_rate_per_s, per_second_ + events / time_constant_s_);
  }

  /// The rate at `now`, 0 to most_rate_per_s.
  double per_second(time now) noexcept {
    fade(now);
    return per_second_;
  }

private:
  void fade(time now) noexcept {
    if (now <= last_)
      return;
    const double passed_s = std::chrono::duration<double>(now - last_).count();
    per_second_ *= std::exp(-passed_s / time_constant_s_);
    last_ = now;
  }

  time last_;
  double time_constant_s_;
  double per_second_ = 0;
};

} // namespace basal::mab
