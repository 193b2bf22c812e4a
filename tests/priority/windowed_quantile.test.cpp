#include <basal/priority/windowed_quantile.hpp>

#include "support/catch.hpp"

#include <cmath>
#include <random>

using basal::priority::p2_quantile;
using basal::priority::windowed_quantile;

namespace {

/// Observations around 10 until the median passes half way from 1 to 10, after `before` of them
/// around 1.
template <class Quantile>
int observations_to_adapt(Quantile median, int before) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution spread(0.95, 1.05);
  for (int i = 0; i < before; ++i)
    median.observe(spread(random));
  for (int i = 1;; ++i) {
    median.observe(10 * spread(random));
    if (median.value() > 5.5)
      return i;
  }
}

} // namespace

TEST_CASE("plain P² needs more observations to change its mind the more it has seen") {
  // 1.26 times as many: the negative control of the next test.
  CHECK(observations_to_adapt(p2_quantile{}, 1'000) > 1'000);
  CHECK(observations_to_adapt(p2_quantile{}, 10'000) > 10'000);
}

TEST_CASE("the windowed form changes its mind within a window, whatever it has seen") {
  for (const int before : {100, 1'000, 10'000, 1'000'000}) {
    INFO("after " << before);
    CHECK(observations_to_adapt(windowed_quantile{}, before)
          <= static_cast<int>(windowed_quantile::default_window));
  }
}

TEST_CASE("until the first window is full it is plain P²") {
  std::mt19937_64 random(5);
  std::exponential_distribution draw(1.0);
  p2_quantile plain;
  windowed_quantile windowed(0.5, 100);
  for (int i = 0; i < 99; ++i) {
    const double x = draw(random);
    plain.observe(x);
    windowed.observe(x);
    CHECK(windowed.value() == plain.value());
  }
}

TEST_CASE("at every moment it estimates from half a window at least") {
  std::mt19937_64 random(11);
  std::uniform_real_distribution draw(0.0, 1.0);
  windowed_quantile median;
  double worst = 0;
  for (int i = 0; i < 100'000; ++i) {
    median.observe(draw(random));
    if (i >= 256)
      worst = std::max(worst, std::abs(median.value() - 0.5));
  }
  CHECK(worst < 0.15); // of 256 observations: five standard deviations of the sample median
  CHECK(median.count() == 100'000);
}

TEST_CASE("a window in which P² could not start is refused") {
  CHECK_THROWS_AS(windowed_quantile(0.5, 9), std::invalid_argument);
  CHECK_THROWS_AS(windowed_quantile(1.0), std::invalid_argument);
  CHECK(windowed_quantile(0.5, 10).window() == 10);
}
