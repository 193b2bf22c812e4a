#include "bench/support/format.hpp"

#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace basal::bench {

namespace {

std::string fixed(double value, int decimals) {
  char buffer[400]; // the widest double has 309 digits before the point
  const int length = std::snprintf(buffer, sizeof buffer, "%.*f", decimals, value);
  return {buffer, static_cast<std::size_t>(length)};
}

} // namespace

std::string three_digits(double value) {
  if (!std::isfinite(value))
    throw std::invalid_argument("not a finite number");
  if (value == 0)
    return "0";
  // Rounding first: 9.999 has one digit before the point, but 10.0 has two.
  char rounded_text[40];
  std::snprintf(rounded_text, sizeof rounded_text, "%.2e", value);
  const double rounded = std::strtod(rounded_text, nullptr);
  const int exponent = static_cast<int>(std::floor(std::log10(std::fabs(rounded))));
  return fixed(rounded, exponent < 2 ? 2 - exponent : 0);
}

std::string format_ns(double nanoseconds) {
  struct unit {
    double size;
    const char* name;
  };
  // 999.6 ns would print as 1000 ns; from 999.5 on the next unit is shorter.
  for (const unit u : {unit{1, " ns"}, unit{1e3, " us"}, unit{1e6, " ms"}}) {
    if (std::fabs(nanoseconds) < 999.5 * u.size)
      return three_digits(nanoseconds / u.size) + u.name;
  }
  return three_digits(nanoseconds / 1e9) + " s";
}

std::string format_spread(spread value) {
  return fixed(-std::fabs(value.low) * 100, 0) + " +" + fixed(value.high * 100, 0) + "%";
}

} // namespace basal::bench
