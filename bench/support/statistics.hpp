/// The few statistics that a benchmark table needs.
#pragma once

#include <span>

namespace basal::bench {

/// The middle of the sorted values, the mean of the two middle ones if their number
/// is even. Throws std::invalid_argument when there are none.
double median(std::span<const double> values);

/// The geometric mean of positive values. Throws std::invalid_argument when there are none.
double geomean(std::span<const double> values);

/// Distance of a sample's ends from its median: low = min / median - 1, high = max / median - 1.
struct spread {
  double low = 0;
  double high = 0;
};

/// Min and max rather than deviations: with five to nine repetitions every one of them is
/// evidence, and a disturbed one should show. Throws as median() does.
spread spread_of(std::span<const double> values);

} // namespace basal::bench
