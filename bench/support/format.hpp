/// How the tables and figure lines write numbers.
#pragma once

#include "bench/support/statistics.hpp"

#include <string>

namespace basal::bench {

/// Three significant digits without an exponent: 1.08, 23.5, 12300, 0.00123, 0.
/// Throws std::invalid_argument for infinities and NaN: they are no result.
std::string three_digits(double value);

/// Three significant digits with the unit that suits: "3.52 ns", "126 ms", "1.50 s".
std::string format_ns(double nanoseconds);

/// In percent of the median, e.g. "-1 +3%".
std::string format_spread(spread value);

} // namespace basal::bench
