#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include <basal/priority/detail/log_scale.hpp>
#include <basal/priority/detail/p2_quantile.hpp>

namespace basal::priority {

/// A quantile of positive numbers by P² that forgets: its estimate rests on the latest
/// `window / 2` to `window` observations (on all of them while there are fewer).
///
/// P² itself never forgets: after N observations around 1 it takes about 1.26 N
/// around 10 until the median is past the middle between them. Here two
/// estimators take turns: the older one answers; when it is half full the younger
/// one starts to learn, and takes over when it is full. At most `window`
/// observations after a change the estimate knows nothing older.
///
/// The markers stand on a logarithmic scale (detail/log_scale.hpp). On a linear one P²
/// interpolates between short runs of 1 and rare long ones of 10^4, and sits at hundreds;
/// a quantile is the same on every scale, and what is interpolated between the two
/// logarithms is near 1. Where one run in five takes 1000 times as long as the others, the
/// estimate on a linear scale is more than twice the median 16 % of the time; here never.
///
/// Not thread-safe; O(1); 192 bytes; never allocates.
class windowed_quantile {
public:
  static constexpr std::uint64_t default_window = 512;

  /// The younger estimator has the five observations that P² needs when it takes
  /// over.
  static constexpr std::uint64_t least_window = 10;

  /// @param p which quantile, above 0 and below 1
  /// @param window observations, at least `least_window`
  /// @throws std::invalid_argument
  explicit windowed_quantile(double p = 0.5, std::uint64_t window = default_window)
    : window_(window), older_(p), younger_(p) {
    if (window < least_window)
      throw std::invalid_argument("basal: windowed_quantile: window is " + std::to_string(window)
                                  + ", but must be at least " + std::to_string(least_window));
  }

  /// @param x any; what is not positive counts as 2e-308, the least normal number
  void observe(double x) noexcept {
    const double place = detail::log_place(x);
    if (older_.count() >= window_ / 2)
      younger_.observe(place);
    older_.observe(place);
    ++count_;
    if (older_.count() >= window_)
      older_ = std::exchange(younger_, p2_quantile{older_.p()});
  }

  /// The estimate; 0 when nothing was observed.
  double value() const noexcept {
    return count_ == 0 ? 0 : detail::at_log_place(older_.value());
  }

  /// All observations, those forgotten included.
  std::uint64_t count() const noexcept {
    return count_;
  }

  std::uint64_t window() const noexcept {
    return window_;
  }

private:
  std::uint64_t window_;
  std::uint64_t count_ = 0;
  p2_quantile older_;
  p2_quantile younger_;
};

} // namespace basal::priority
