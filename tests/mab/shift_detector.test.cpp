#include <basal/mab/detail/estimate.hpp>
#include <basal/mab/detail/shift_detector.hpp>
#include <basal/mab/random.hpp>

#include "support/catch.hpp"

#include <cmath>

using namespace basal::mab;

namespace {

constexpr double decay = 0.999653;

// Observations after the shift until the estimate restarts; -1: never.
int observations_until_restart(double from_us, double to_us, double sigma, int history) {
  splitmix64 random{17};
  estimate e;
  for (int i = 0; i < history; ++i)
    e.observe(std::log(from_us) + sigma * standard_normal(random), decay, true);
  for (int i = 1; i <= 1000; ++i)
    if (e.observe(std::log(to_us) + sigma * standard_normal(random), decay, true))
      return i;
  return -1;
}

} // namespace

TEST_CASE("steady costs: half or twice as much is found within four observations") {
  for (const int history : {20, 2'000, 50'000})
    for (const double to_us : {10.0, 50.0, 200.0, 1000.0}) {
      const int needed = observations_until_restart(100, to_us, 0, history);
      INFO("history " << history << ", to " << to_us);
      CHECK(needed >= 3); // two may be outliers
      CHECK(needed <= 4);
    }
}

TEST_CASE("costs that vary by a third: a tenth or tenfold in 4, half or twice in 20") {
  for (const int history : {20, 2'000, 50'000})
    for (const double to_us : {10.0, 1000.0}) {
      const int needed = observations_until_restart(100, to_us, 0.3, history);
      INFO("history " << history << ", to " << to_us);
      CHECK(needed >= 3);
      CHECK(needed <= 4);
    }
  for (const int history : {2'000, 50'000})
    for (const double to_us : {50.0, 200.0}) {
      const int needed = observations_until_restart(100, to_us, 0.3, history);
      INFO("history " << history << ", to " << to_us);
      CHECK(needed >= 3);
      CHECK(needed <= 20);
    }
}

TEST_CASE("after a restart the estimate believes what it saw since the shift") {
  estimate e;
  for (int i = 0; i < 5'000; ++i)
    e.observe(std::log(100.0), decay, true);
  int observed = 0;
  while (!e.observe(std::log(10.0), decay, true) && observed < 1000)
    ++observed;
  CHECK(e.belief().mean() == Approx(std::log(10.0)));
  CHECK(e.belief().n() == Approx(observed + 1));
}

TEST_CASE("without the detector the estimate follows a shift only slowly") {
  estimate e;
  for (int i = 0; i < 5'000; ++i)
    e.observe(std::log(100.0), decay, false);
  for (int i = 0; i < 100; ++i)
    REQUIRE_FALSE(e.observe(std::log(10.0), decay, false));
  CHECK(e.belief().mean() > std::log(80.0));
}

TEST_CASE("a million steady observations cause next to no restarts") {
  for (const double sigma : {0.0, 0.1, 0.3, 1.0}) {
    splitmix64 random{23};
    estimate e;
    int restarts = 0;
    for (int i = 0; i < 1'000'000; ++i)
      restarts += e.observe(4 + sigma * standard_normal(random), decay, true);
    INFO("sigma " << sigma);
    CHECK(restarts <= 5); // while the variance is young
  }
}

TEST_CASE("a single outlier of any size is no shift, nor are two in a row") {
  shift_detector d;
  CHECK_FALSE(d.observe(1e6, 1e6));
  CHECK_FALSE(d.observe(1e6, 1e6));
  CHECK_FALSE(d.observe(0, 0));
}

TEST_CASE("a mixture of fast and slow runs is no shift") {
  splitmix64 random{29};
  estimate e;
  int restarts = 0;
  for (int i = 0; i < 300'000; ++i) {
    const double u = uniform(random);
    const double us = u < 0.6 ? 10 : u < 0.9 ? 100 : 500;
    restarts += e.observe(std::log(us), decay, true);
  }
  CHECK(restarts <= 5);
}

TEST_CASE("the mean cost of log-normal times lies above their geometric mean") {
  splitmix64 random{31};
  posterior p;
  double sum = 0;
  constexpr int n = 200'000;
  for (int i = 0; i < n; ++i) {
    const double x = std::log(50.0) + 0.8 * standard_normal(random);
    p.observe(x, 1);
    sum += std::exp(x);
  }
  CHECK(std::exp(log_mean_cost(p)) == Approx(sum / n).epsilon(0.02));
  CHECK(std::exp(p.mean()) == Approx(50).epsilon(0.02));
}
