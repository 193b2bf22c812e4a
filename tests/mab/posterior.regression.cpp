#include <basal/mab/detail/posterior.hpp>
#include <basal/mab/random.hpp>

#include "support/catch.hpp"

#include <cmath>

using namespace basal::mab;

namespace {

constexpr double decay = 0.999653;
constexpr int observations = 100'000;

double cost_log(splitmix64& random) {
  return std::log(100.0) + 0.3 * standard_normal(random);
}

// As the document behind loom-rs writes the update down: only n fades.
struct fading_n_only {
  double n = 0;
  double mean = 0;
  double s2 = 0;

  void observe(double x) {
    n = decay * n + 1;
    const double delta = x - mean;
    mean += delta / n;
    s2 += delta * (x - mean);
  }

  double variance() const {
    return s2 / (n - 1);
  }
};

} // namespace

// The published document fades the number of observations and forgets to fade their sum of
// squares, which then is divided by a number that no longer grows: the model becomes less
// certain with every observation of a steady cost.
TEST_CASE("the variance of a steady cost does not grow without bound") {
  splitmix64 random{3};
  fading_n_only documented;
  posterior ours;
  for (int i = 0; i < observations; ++i) {
    const double x = cost_log(random);
    documented.observe(x);
    ours.observe(x, decay);
  }
  CHECK(documented.variance() == Approx(3.13).epsilon(0.05)); // the bug, where 0.09 is right
  CHECK(ours.variance() == Approx(0.09).epsilon(0.15));
}

// The program fades the mean, too, towards 0, the logarithm of one microsecond. In the long
// run it believes half of the logarithm: 10 us of a function that takes 100.
TEST_CASE("the mean of a steady cost is not pulled towards one microsecond") {
  splitmix64 random{3};
  posterior literal;
  posterior ours;
  for (int i = 0; i < observations; ++i) {
    const double x = cost_log(random);
    literal.observe_fading_mean(x, decay);
    ours.observe(x, decay);
  }
  CHECK(std::exp(literal.mean()) == Approx(10).epsilon(0.05)); // the bug
  CHECK(std::exp(ours.mean()) == Approx(100).epsilon(0.02));
}
