#include "bench/support/format.hpp"
#include "support/catch.hpp"

#include <limits>
#include <stdexcept>

using namespace basal::bench;

TEST_CASE("figures have three significant digits and no exponent") {
  CHECK(three_digits(0) == "0");
  CHECK(three_digits(1) == "1.00");
  CHECK(three_digits(1.0849) == "1.08");
  CHECK(three_digits(23.46) == "23.5");
  CHECK(three_digits(100) == "100");
  CHECK(three_digits(12345) == "12300");
  CHECK(three_digits(0.0012345) == "0.00123");
  CHECK(three_digits(-2.5) == "-2.50");
}

TEST_CASE("rounding up to a new digit keeps three digits") {
  CHECK(three_digits(9.999) == "10.0");
  CHECK(three_digits(99.96) == "100");
  CHECK(three_digits(999.6) == "1000");
  CHECK(three_digits(0.09999) == "0.100");
}

TEST_CASE("what is no number is refused") {
  CHECK_THROWS_AS(three_digits(std::numeric_limits<double>::infinity()), std::invalid_argument);
  CHECK_THROWS_AS(three_digits(std::numeric_limits<double>::quiet_NaN()), std::invalid_argument);
}

TEST_CASE("durations choose their unit") {
  CHECK(format_ns(0.5) == "0.500 ns");
  CHECK(format_ns(3.519) == "3.52 ns");
  CHECK(format_ns(999.6) == "1.00 us");
  CHECK(format_ns(126'400'000) == "126 ms");
  CHECK(format_ns(1.5e9) == "1.50 s");
  CHECK(format_ns(9e10) == "90.0 s");
}

TEST_CASE("the spread is written in percent") {
  CHECK(format_spread({-0.012, 0.034}) == "-1 +3%");
  CHECK(format_spread({0, 0}) == "-0 +0%");
}
