#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>

namespace basal::mab {

/// The belief about a cost: mean and variance of its logarithm, from observations that fade.
///
/// The mean of the observations is believed to be Normal(mean, variance / n).
/// With `n = d*n + 1`, `s2 = d*s2 + (x - old mean) * (x - new mean)`, this equals
/// the batch computation with weight `d^age` for every observation.
///
/// Units: x in nats, the natural logarithm of microseconds. Not thread-safe;
/// no allocation; an update takes about 2 ns (one division).
///
/// Source: Welford, Technometrics 4 (1962) 419, with the exponential weights of
/// West, CACM 22 (1979) 532. Three fading moments are easily got wrong:
/// - fading n alone lets the variance grow without bound (0.09 reads 3.1 after
///   10^5 observations);
/// - fading the mean pulls it towards 0 nats = 1 us: with d = 0.999653 a cost of
///   100 us reads 10 us.
/// So n and s2 fade, and the mean never does.
class posterior {
public:
  /// The variance while fewer than two observations say anything about it: one
  /// nat, a factor of e either way.
  static constexpr double diffuse_variance = 1.0;

  /// No cost on a real machine repeats to better than 10 %.
  static constexpr double min_variance = 0.01;

  /// Keeps a draw from becoming a constant when n is large.
  static constexpr double min_deviation = 0.01;

  posterior() noexcept = default;

  posterior(double n, double mean, double s2) noexcept : n_(n), mean_(mean), s2_(s2) {
  }

  /// Adds the observation x after fading the former ones by `decay` in (0, 1].
  void observe(double x, double decay) noexcept {
    assert(x - x == 0 && "a cost's logarithm is a finite number");
    assert(decay > 0 && decay <= 1 && "a share of the former observations stays");
    n_ = decay * n_ + 1;
    const double delta = x - mean_;
    mean_ += delta / n_;
    s2_ = decay * s2_ + delta * (x - mean_);
  }

  /// Adds `count` observations whose mean is x and which vary as the former ones do
  /// (the means of such groups vary by 1/count of that; the rest is within them).
  void observe_many(double x, std::uint32_t count, double decay) noexcept {
    assert(x - x == 0 && "a cost's logarithm is a finite number");
    assert(count > 0 && "a mean is that of one observation at least");
    assert(decay > 0 && decay <= 1 && "a share of the former observations stays");
    const double keep = std::pow(decay, count);
    const double weight = decay < 1 ? (1 - keep) / (1 - decay) : count;
    const double spread = variance() * (1 - 1.0 / count);
    n_ = keep * n_ + weight;
    const double delta = x - mean_;
    mean_ += delta * weight / n_;
    s2_ = keep * s2_ + weight * (delta * (x - mean_) + spread);
  }

  /// The update of loom-rs, which fades the mean, too. Only for cost_model
  /// seed_literal, which reproduces that program's tables.
  void observe_fading_mean(double x, double decay) noexcept {
    mean_ *= decay;
    observe(x, decay);
  }

  /// Fades what was observed without adding anything; at last to nothing.
  void forget(double decay) noexcept {
    assert(decay >= 0 && decay <= 1 && "what is forgotten is a share");
    n_ *= decay;
    s2_ *= decay;
    // Fading on would end in denormal numbers, whose arithmetic takes 100 ns.
    if (n_ < negligible_n)
      *this = {};
  }

  /// As if all of `other`'s observations had been made here, too.
  /// Source: Chan, Golub, LeVeque, The American Statistician 37 (1983) 242.
  void merge(const posterior& other) noexcept {
    const double n = n_ + other.n_;
    if (n <= 0)
      return;
    const double delta = other.mean_ - mean_;
    const double share = other.n_ / n;
    s2_ += other.s2_ + delta * delta * n_ * share;
    mean_ += delta * share;
    n_ = n;
  }

  /// Effective number of observations; at most 1 / (1 - decay).
  double n() const noexcept {
    return n_;
  }

  /// Of the logarithms; exp(mean()) is the geometric mean of the costs.
  double mean() const noexcept {
    return mean_;
  }

  /// The sum of squared differences from the mean.
  double s2() const noexcept {
    return s2_;
  }

  /// Of one observation, not of the mean. Never below min_variance.
  double variance() const noexcept {
    return n_ < 2 ? diffuse_variance : std::max(s2_ / (n_ - 1), min_variance);
  }

  /// Standard deviation of what is believed about the mean. Needs n() > 0.
  double deviation() const noexcept {
    assert(n_ > 0 && "nothing is believed without an observation");
    return std::max(std::sqrt(variance() / n_), min_deviation);
  }

  friend bool operator==(const posterior&, const posterior&) = default;

private:
  static constexpr double negligible_n = 1e-4;

  double n_ = 0;
  double mean_ = 0;
  double s2_ = 0;
};

} // namespace basal::mab
