#include "portable.hpp"
#include "portable_math.hpp"

#include "support/catch.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

using namespace basal::solver::detail;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// Units in the last place between two numbers of one sign.
double ulps(double a, double b) {
  return std::abs(a - b) / (std::nextafter(std::abs(b), infinite) - std::abs(b));
}

} // namespace

TEST_CASE("logarithm, exponential and length are exact to two units in the last place") {
  for (int i = 1; i < 20'000; ++i) {
    const double x = std::pow(1.0035, i) * 1e-15;
    CHECK(ulps(portable_log(x), std::log(x)) <= 2);
    CHECK(ulps(portable_hypot(x, 3), std::hypot(x, 3)) <= 2);
    const double y = 0.07 * i - 700;
    CHECK((y > 700 || ulps(portable_exp(y), std::exp(y)) <= 2));
  }
}

TEST_CASE("their ends are those of the standard") {
  CHECK(portable_log(0) == -infinite);
  CHECK(portable_log(1) == 0);
  CHECK(portable_log(infinite) == infinite);
  CHECK(std::isnan(portable_log(-1)));
  CHECK(portable_exp(0) == 1);
  CHECK(portable_exp(-1000) == 0);
  CHECK(portable_exp(1000) == infinite);
  CHECK(portable_hypot(0, 0) == 0);
  CHECK(ulps(portable_hypot(3e200, -4e200), 5e200) <= 2);
  CHECK(portable_hypot(-infinite, 1) == infinite);
}

TEST_CASE("a count of bytes that no address space holds is asked for as the largest there is") {
  CHECK(allocatable(64) == 64);
  CHECK(allocatable(std::numeric_limits<std::uint64_t>::max())
        == std::numeric_limits<std::size_t>::max());
}
