#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <basal/mab/detail/posterior.hpp>
#include <basal/mab/detail/shift_detector.hpp>

namespace basal::mab {

/// A posterior that restarts when its cost shifts. Units and safety as there.
class estimate {
public:
  estimate() noexcept = default;

  explicit estimate(const posterior& belief) noexcept : belief_(belief) {
  }

  /// With fewer observations the belief is as young as its replacement would be.
  static constexpr double min_observations_to_shift = 8;

  /// @returns true when the cost has shifted and the belief was restarted.
  bool observe(double x, double decay, bool restart_on_shift) noexcept {
    if (restart_on_shift && shifted(x))
      return true;
    belief_.observe(x, decay);
    return false;
  }

  /// The same for `count` observations of mean x, which is one to the detector.
  bool observe_many(double x, std::uint32_t count, double decay, bool restart_on_shift) noexcept {
    if (restart_on_shift && shifted(x))
      return true;
    belief_.observe_many(x, count, decay);
    return false;
  }

  /// See posterior::observe_fading_mean.
  void observe_fading_mean(double x, double decay) noexcept {
    belief_.observe_fading_mean(x, decay);
  }

  void forget(double decay) noexcept {
    belief_.forget(decay);
  }

  const posterior& belief() const noexcept {
    return belief_;
  }

private:
  bool shifted(double x) noexcept {
    if (belief_.n() < min_observations_to_shift || unremarkable(x))
      return false;
    const double z = (x - belief_.mean()) / std::sqrt(belief_.variance());
    if (!shift_.observe(x, z))
      return false;
    belief_ = shift_.restart();
    return true;
  }

  // Most observations are: they need no division and no square root.
  bool unremarkable(double x) const noexcept {
    const double delta = x - belief_.mean();
    const double square = delta * delta;
    return shift_.calm()
           && (square < posterior::min_variance || square * (belief_.n() - 1) < belief_.s2());
  }

  posterior belief_;
  shift_detector shift_;
};

/// Logarithm of the arithmetic mean of costs whose logarithms `p` describes.
///
/// Waiting adds up, so the mean decides, not the typical cost; for log-normal
/// costs it is exp(mean + variance/2). The correction is capped at one nat, since
/// with heavy tails or few observations the variance is known worse than that.
inline double log_mean_cost(const posterior& p) noexcept {
  return p.mean() + (p.n() < 2 ? 0 : std::min(p.variance() / 2, 1.0));
}

} // namespace basal::mab
