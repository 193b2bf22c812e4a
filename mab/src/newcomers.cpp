#include <basal/mab/newcomers.hpp>

#include <algorithm>
#include <cmath>

#include <basal/mab/family.hpp>

namespace basal::mab {

void newcomers::allow(const grant& g, double pressure) noexcept {
  runs_ = g.runs;
  limit_ = std::chrono::duration_cast<std::chrono::nanoseconds>(g.limit);
  pressure_ = pressure;
}

/// As one belief, whose mean and variance are those of log-normal times of that average and spread:
/// no run pays for a logarithm.
void newcomers::tell(family& kin) noexcept {
  const auto n = static_cast<double>(num_untold());
  const double mean_us = std::max(sum_us_ / n, outcome::min_cost.count());
  const double square = std::max(squares_ / n, mean_us * mean_us);
  const double variance = std::log(square / (mean_us * mean_us));
  kin.publish_first_runs({n, std::log(mean_us) - variance / 2, variance * (n - 1)}, pressure_,
                         num_untold());
  sum_us_ = squares_ = 0;
  untold_.store(0, std::memory_order_relaxed);
}

} // namespace basal::mab
