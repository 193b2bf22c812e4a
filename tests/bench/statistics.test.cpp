#include "bench/support/statistics.hpp"
#include "support/catch.hpp"

#include <stdexcept>
#include <vector>

using namespace basal::bench;

TEST_CASE("the median is the middle value, whatever the order") {
  CHECK(median(std::vector{5.0, 1.0, 3.0}) == 3.0);
  CHECK(median(std::vector{7.0}) == 7.0);
}

TEST_CASE("the median of an even number of values is the mean of the middle two") {
  CHECK(median(std::vector{4.0, 1.0, 10.0, 2.0}) == 3.0);
}

TEST_CASE("two wild values of five do not move the median out of the other three") {
  CHECK(median(std::vector{2.0, 900.0, 1.0, 800.0, 3.0}) == 3.0);
}

TEST_CASE("a median of nothing is refused") {
  CHECK_THROWS_AS(median(std::vector<double>{}), std::invalid_argument);
}

TEST_CASE("the spread is relative to the median") {
  const auto s = spread_of(std::vector{90.0, 100.0, 150.0});
  CHECK(s.low == Approx(-0.1));
  CHECK(s.high == Approx(0.5));
}

TEST_CASE("the geometric mean of twice and half is one") {
  CHECK(geomean(std::vector{2.0, 0.5}) == Approx(1));
  CHECK(geomean(std::vector{3.0}) == Approx(3));
  CHECK_THROWS_AS(geomean(std::vector<double>{}), std::invalid_argument);
}
