#include "bench/support/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace basal::bench {

double median(std::span<const double> values) {
  if (values.empty())
    throw std::invalid_argument("median of no values");
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const auto middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

double geomean(std::span<const double> values) {
  if (values.empty())
    throw std::invalid_argument("geometric mean of no values");
  double logarithms = 0;
  for (const double value : values)
    logarithms += std::log(value);
  return std::exp(logarithms / static_cast<double>(values.size()));
}

spread spread_of(std::span<const double> values) {
  const double middle = median(values);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {*low / middle - 1, *high / middle - 1};
}

} // namespace basal::bench
