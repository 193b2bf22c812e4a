#include <basal/mab/detail/posterior.hpp>
#include <basal/mab/random.hpp>

#include "support/catch.hpp"

#include <cmath>
#include <vector>

using namespace basal::mab;

namespace {

constexpr double published_decay = 0.999653;

// The same moments from all observations at once: weight d^age each.
posterior batch(const std::vector<double>& xs, double decay) {
  double n = 0;
  double sum = 0;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const double weight = std::pow(decay, static_cast<double>(xs.size() - 1 - i));
    n += weight;
    sum += weight * xs[i];
  }
  const double mean = sum / n;
  double s2 = 0;
  for (std::size_t i = 0; i < xs.size(); ++i)
    s2 += std::pow(decay, static_cast<double>(xs.size() - 1 - i)) * (xs[i] - mean) * (xs[i] - mean);
  return {n, mean, s2};
}

} // namespace

TEST_CASE("a posterior equals the exact batch computation, for any decay and any costs") {
  splitmix64 random{2024};
  for (const double decay : {1.0, published_decay, 0.993, 0.9, 0.5})
    for (int round = 0; round < 40; ++round) {
      const double spread = 3 * uniform(random);
      const double center = 20 * uniform(random) - 7; // a nanosecond to ten minutes
      std::vector<double> xs;
      posterior p;
      for (int i = 0; i < 300; ++i) {
        xs.push_back(center + spread * standard_normal(random));
        p.observe(xs.back(), decay);
      }
      const auto exact = batch(xs, decay);
      INFO("decay " << decay << ", round " << round);
      CHECK(p.n() == Approx(exact.n()).epsilon(1e-9));
      CHECK(p.mean() == Approx(exact.mean()).epsilon(1e-9).margin(1e-9));
      CHECK(p.variance() == Approx(exact.variance()).epsilon(1e-7).margin(1e-9));
    }
}

TEST_CASE("merging two posteriors equals observing everything in one") {
  splitmix64 random{5};
  posterior a;
  posterior b;
  posterior both;
  for (int i = 0; i < 100; ++i) {
    const double x = 3 + standard_normal(random);
    (i % 3 == 0 ? a : b).observe(x, 1);
    both.observe(x, 1);
  }
  a.merge(b);
  CHECK(a.n() == Approx(both.n()));
  CHECK(a.mean() == Approx(both.mean()));
  CHECK(a.variance() == Approx(both.variance()));
}

TEST_CASE("merging with nothing changes nothing") {
  posterior a{3, 2, 1};
  a.merge({});
  CHECK(a == posterior{3, 2, 1});
  posterior b;
  b.merge({});
  CHECK(b == posterior{});
}

TEST_CASE("the published decay halves a weight in 1997 observations") {
  CHECK(std::log(0.5) / std::log(published_decay) == Approx(1997).margin(1));
  posterior p;
  p.observe(1, published_decay);
  const double before = p.n();
  for (int i = 0; i < 1997; ++i)
    p.forget(published_decay);
  CHECK(p.n() / before == Approx(0.5).margin(0.001));
}

TEST_CASE("the number of observations saturates at 2881.8") {
  posterior p;
  for (int i = 0; i < 100'000; ++i)
    p.observe(1, published_decay);
  CHECK(p.n() == Approx(2881.8).margin(0.1));
}

TEST_CASE("the variance is diffuse up to the second observation and has a floor afterwards") {
  posterior p;
  p.observe(3, published_decay);
  CHECK(p.variance() == posterior::diffuse_variance);
  p.observe(3, published_decay); // n is 1.9997
  CHECK(p.variance() == posterior::diffuse_variance);
  p.observe(3, published_decay);
  CHECK(p.variance() == posterior::min_variance);
  CHECK(p.deviation() == Approx(std::sqrt(0.01 / p.n())));
}

TEST_CASE("the deviation of the mean never falls below its floor") {
  posterior p;
  for (int i = 0; i < 50'000; ++i)
    p.observe(3, published_decay);
  CHECK(p.deviation() == posterior::min_deviation);
}

TEST_CASE("10^5 log-normal observations are recognised: mean and variance") {
  splitmix64 random{11};
  posterior p;
  for (int i = 0; i < 100'000; ++i)
    p.observe(std::log(100.0) + 0.3 * standard_normal(random), published_decay);
  CHECK(std::abs(p.mean() - std::log(100.0)) < 0.02);
  CHECK(p.variance() == Approx(0.09).epsilon(0.15));
}

TEST_CASE("what is forgotten long enough is gone, not denormal") {
  posterior p{50, 3, 1};
  for (int i = 0; i < 10'000; ++i)
    p.forget(0.998);
  CHECK(p == posterior{});
}

TEST_CASE("forgetting keeps the mean and loses the certainty") {
  posterior p;
  for (int i = 0; i < 100; ++i)
    p.observe(i % 2 == 0 ? 2.0 : 3.0, 1);
  const double certain = p.deviation();
  p.forget(0.1);
  CHECK(p.mean() == Approx(2.5));
  CHECK(p.deviation() > 3 * certain);
}
