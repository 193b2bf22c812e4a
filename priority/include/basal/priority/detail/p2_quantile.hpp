#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <basal/executors/detail/assert.hpp>

namespace basal::priority {

/// Estimates a quantile of numbers that are not kept: P² (Jain and Chlamtac, "The
/// P² algorithm for dynamic calculation of quantiles and histograms without
/// storing observations", CACM 28(10), 1985, doi:10.1145/4372.4378), as
/// published. The ² is a square: piecewise-parabolic prediction.
///
/// Five markers: the least value, the p/2-, p- and (1+p)/2-quantiles, the
/// greatest. Each has a height (its value) and a position (how many values are at
/// most that high). A marker one position or more away from where it belongs
/// moves by one, along a parabola through its neighbours or, where that would
/// pass one of them, a line.
///
/// Deviations: below five observations, where the paper has none, the estimate is
/// exact; desired positions are computed and not summed up, so that rounding does
/// not add up for p that are no binary fractions.
///
/// How good it is depends on the distribution: for smooth ones a few percent at
/// 100 observations; for two distant peaks with the quantile near the gap between
/// them, off by the whole gap for thousands. It never forgets, see
/// windowed_quantile. Not thread-safe; O(1); 88 bytes; never allocates.
class p2_quantile {
public:
  /// @param p which quantile, above 0 and below 1
  /// @throws std::invalid_argument
  explicit p2_quantile(double p = 0.5) : p_(p) {
    if (!(p > 0 && p < 1))
      throw std::invalid_argument("basal: p2_quantile: p is " + std::to_string(p)
                                  + ", but a quantile must be above 0 and below 1");
  }

  /// @param x neither a NaN nor infinite
  void observe(double x) noexcept {
    BASAL_ASSERT(x - x == 0, "a sample is a finite number");
    if (count() < markers) {
      observe_early(x);
      return;
    }
    q_[0] = std::min(q_[0], x);
    q_[4] = std::max(q_[4], x);
    n_[1] += x < q_[1];
    n_[2] += x < q_[2];
    n_[3] += x < q_[3];
    n_[4] += 1;
    const auto last = static_cast<double>(n_[4] - 1);
    adjust(1, 1 + last * (p_ / 2));
    adjust(2, 1 + last * p_);
    adjust(3, 1 + last * ((1 + p_) / 2));
  }

  /// The estimate; 0 when nothing was observed.
  double value() const noexcept {
    return count() >= markers ? q_[2] : early_value();
  }

  std::uint64_t count() const noexcept {
    return static_cast<std::uint64_t>(n_[4]);
  }

  double p() const noexcept {
    return p_;
  }

  /// The markers' heights; below five observations the observations, in order,
  /// and zeros.
  const std::array<double, 5>& heights() const noexcept {
    return q_;
  }

  /// The markers' positions, from 1, once there are five observations.
  const std::array<std::int64_t, 5>& positions() const noexcept {
    return n_;
  }

private:
  static constexpr std::uint64_t markers = 5;

  void observe_early(double x) noexcept {
    auto at = static_cast<std::size_t>(n_[4]++);
    for (; at > 0 && x < q_[at - 1]; --at)
      q_[at] = q_[at - 1];
    q_[at] = x;
  }

  /// The quantile of the sample, linear between its values (Hyndman and Fan 1996,
  /// definition 7; for p = 1/2 the usual median).
  double early_value() const noexcept {
    if (n_[4] < 2)
      return q_[0];
    const auto at = p_ * static_cast<double>(n_[4] - 1);
    const auto below = static_cast<std::size_t>(at);
    return q_[below] + (at - static_cast<double>(below)) * (q_[below + 1] - q_[below]);
  }

  void adjust(std::size_t i, double desired) noexcept {
    const auto d = desired - static_cast<double>(n_[i]);
    if (d >= 1 && n_[i + 1] - n_[i] > 1)
      move(i, 1);
    else if (d <= -1 && n_[i] - n_[i - 1] > 1)
      move(i, -1);
  }

  void move(std::size_t i, int step) noexcept {
    const auto s = static_cast<double>(step);
    const auto below = static_cast<double>(n_[i] - n_[i - 1]);
    const auto above = static_cast<double>(n_[i + 1] - n_[i]);
    const auto rise_above = (q_[i + 1] - q_[i]) / above;
    const auto rise_below = (q_[i] - q_[i - 1]) / below;
    auto height
      = q_[i] + s / (below + above) * ((below + s) * rise_above + (above - s) * rise_below);
    if (!(q_[i - 1] < height && height < q_[i + 1]))
      height = q_[i] + s * (step > 0 ? rise_above : rise_below);
    q_[i] = height;
    n_[i] += step;
  }

  double p_;
  std::array<double, 5> q_{};
  /// 64 bits, since a 32-bit count wraps within the hour at a million
  /// observations a second. The last one is the number of observations.
  std::array<std::int64_t, 5> n_{1, 2, 3, 4, 0};
};

} // namespace basal::priority
