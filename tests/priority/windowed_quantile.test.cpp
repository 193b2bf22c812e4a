#include <basal/priority/detail/windowed_quantile.hpp>

#include "support/catch.hpp"

#include <cmath>
#include <limits>
#include <random>

using basal::priority::p2_quantile;
using basal::priority::windowed_quantile;
using basal::priority::detail::at_log_place;
using basal::priority::detail::log_place;

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

TEST_CASE("until the first window is full it is plain P² on a logarithmic scale") {
  std::mt19937_64 random(5);
  std::exponential_distribution draw(1.0);
  p2_quantile plain;
  windowed_quantile windowed(0.5, 100);
  for (int i = 0; i < 99; ++i) {
    const double x = draw(random);
    plain.observe(log_place(x));
    windowed.observe(x);
    CHECK(windowed.value() == at_log_place(plain.value()));
  }
}

namespace {

/// Of the estimates after 100 to 20,000 observations, of which this share is `ratio` and the
/// others 1, all +- 5 %: how many are off by more than a factor of two.
template <class Quantile>
double far_off(double long_share, double ratio) {
  int off = 0;
  int all = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    std::mt19937_64 random(seed);
    std::bernoulli_distribution is_long(long_share);
    std::normal_distribution noise(0.0, 0.05);
    Quantile median;
    for (int i = 0; i < 20'000; ++i) {
      median.observe((is_long(random) ? ratio : 1) * std::exp(noise(random)));
      if (i < 100)
        continue;
      ++all;
      off += !(median.value() > 0.5 && median.value() < 2);
    }
  }
  return static_cast<double>(off) / all;
}

/// The window with its markers on a linear scale, as a negative control.
class linear_window {
public:
  void observe(double x) noexcept {
    if (older_.count() >= 256)
      younger_.observe(x);
    older_.observe(x);
    if (older_.count() >= 512)
      older_ = std::exchange(younger_, p2_quantile{});
  }

  double value() const noexcept {
    return older_.value();
  }

private:
  p2_quantile older_, younger_;
};

} // namespace

TEST_CASE("rare long runs do not pull the median away from the short ones, however long") {
  for (const double ratio : {10.0, 1e3, 1e4, 1e6})
    for (const double share : {0.05, 0.2, 0.3}) {
      INFO(100 * share << " % of the runs take " << ratio);
      CHECK(far_off<windowed_quantile>(share, ratio) < 0.01);
    }
  CHECK(far_off<windowed_quantile>(0.35, 1e4) < 0.05); // README.md, Limits
  CHECK(far_off<linear_window>(0.2, 1e3) > 0.1);
  CHECK(far_off<linear_window>(0.2, 1e4) > 0.3);
}

TEST_CASE("places are in the order of the numbers, and lead back to them") {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  double former = log_place(0);
  for (double x = 1e-300; x < 1e300; x *= 1.37) {
    CHECK(log_place(x) > former);
    CHECK(at_log_place(log_place(x)) == Approx(x).epsilon(1e-12));
    former = log_place(x);
  }
  CHECK(log_place(infinite) > former);
  CHECK(at_log_place(log_place(infinite)) == infinite);
  for (const double whole : {1.0, 2.0, 3.0, 3600.0, 1e9})
    CHECK(at_log_place(log_place(whole)) == whole);
}

TEST_CASE("whatever is observed, the estimate is a positive number between the observations") {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const double odd[] = {std::numeric_limits<double>::quiet_NaN(),
                        infinite,
                        -infinite,
                        0.0,
                        -0.0,
                        -1.0,
                        1e-320,
                        1e308,
                        -1e308,
                        1.0};
  std::mt19937_64 random(3);
  windowed_quantile median(0.5, 16);
  CHECK(median.value() == 0);
  for (int i = 0; i < 20'000; ++i) {
    median.observe(odd[random() % std::size(odd)]);
    REQUIRE(median.value() > 0);
  }
  for (int i = 0; i < 16; ++i)
    median.observe(3);
  CHECK(median.value() == 3); // a window later nothing of it is left
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
