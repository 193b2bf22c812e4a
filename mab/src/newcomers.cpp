#include <basal/mab/newcomers.hpp>

#include <algorithm>
#include <cmath>

#include <basal/mab/family.hpp>

namespace basal::mab {

void newcomers::allow(const grant& g, double pressure, family& kin) noexcept {
  tell(kin);
  runs_ = g.runs;
  limit_ = std::chrono::duration_cast<std::chrono::nanoseconds>(g.limit);
  pressure_ = pressure;
}

/// As one belief, whose mean and variance are those of log-normal times of that average and spread:
/// no run pays for a logarithm.
void newcomers::tell(family& kin) noexcept {
  if (untold_ == 0)
    return;
  const auto n = static_cast<double>(untold_);
  const double least = outcome::min_cost.count();
  const double mean_us = std::max(sum_us_ / n, least);
  const double square = std::max(squares_ / n, mean_us * mean_us);
  const double variance = std::log(square / (mean_us * mean_us));
  const double log_mean = std::max(std::log(mean_us) - variance / 2, std::log(least));
  kin.publish_runs({n, log_mean, variance * (n - 1)}, pressure_, untold_);
  untold_ = 0;
  sum_us_ = squares_ = 0;
}

} // namespace basal::mab
