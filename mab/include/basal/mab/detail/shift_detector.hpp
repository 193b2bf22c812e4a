#pragma once

#include <algorithm>
#include <cassert>

#include <basal/mab/detail/posterior.hpp>

namespace basal::mab {

/// Notices that a cost is no longer what it was, within 3 to 10 observations.
///
/// A posterior that averages over thousands of observations needs thousands to
/// follow a change. This is a two-sided cumulative sum test; while it is
/// suspicious it collects the observations since the change, from which the
/// posterior then restarts.
///
/// Not thread-safe; no allocation; about 2 ns.
///
/// Source: Page, "Continuous Inspection Schemes", Biometrika 41 (1954) 100.
/// Deviation: deviations are clipped, so that single outliers (a page fault, a
/// preemption) of any size need company to count as a change.
class shift_detector {
public:
  /// Changes of less than one standard deviation are left to the slow decay.
  static constexpr double slack = 1;

  /// In standard deviations. With Gaussian noise the false alarms are millions
  /// of observations apart; three clipped outliers in a row are one.
  static constexpr double alarm = 8;

  static constexpr double clip = 4;

  /// x is the observation, z its deviation from the belief in standard
  /// deviations of one observation. True: the cost has changed; call restart().
  bool observe(double x, double z) noexcept {
    assert(z == z && "a deviation is a number");
    z = std::clamp(z, -clip, clip);
    up_ = std::max(0.0, up_ + z - slack);
    down_ = std::max(0.0, down_ - z - slack);
    if (up_ == 0 && down_ == 0) {
      since_ = {};
      return false;
    }
    since_.observe(x, 1);
    return std::max(up_, down_) > alarm;
  }

  /// No suspicion: an observation within `slack` deviations changes nothing.
  bool calm() const noexcept {
    return up_ == 0 && down_ == 0;
  }

  /// The belief from observations since the change; forgets the alarm.
  posterior restart() noexcept {
    assert(std::max(up_, down_) > alarm && "a belief restarts after an alarm");
    const posterior result = since_;
    *this = {};
    return result;
  }

private:
  double up_ = 0;
  double down_ = 0;
  posterior since_;
};

} // namespace basal::mab
