#include <basal/mab/detail/costs.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <cmath>

using namespace basal::mab;

namespace {

struct fixture {
  knobs k;
  costs c{k};

  void ran_inline(double fn_us, int times = 1) {
    for (int i = 0; i < times; ++i)
      c.observe(arm::inline_here, fn_us, fn_us, fn_us, k);
  }

  void offloaded(double fn_us, double overhead_us, int times = 1) {
    for (int i = 0; i < times; ++i)
      c.observe(arm::offload, fn_us + overhead_us, fn_us, fn_us, k);
  }

  double overhead_us() const {
    return std::exp(c.overhead_belief().mean());
  }

  double function_us() const {
    return std::exp(c.function_belief().mean());
  }
};

} // namespace

TEST_CASE_METHOD(fixture, "both arms teach the function time, only offloads the overhead") {
  ran_inline(80, 3);
  CHECK(function_us() == Approx(80));
  CHECK(c.offload_belief().n() == 0);
  offloaded(80, 12, 3);
  CHECK(c.inline_belief().n() > 5.9);
  CHECK(std::exp(c.offload_belief().mean()) == Approx(12));
}

TEST_CASE_METHOD(fixture, "before an offload the overhead is what the knobs say, give or take") {
  CHECK(overhead_us() == Approx(10));
  CHECK(c.overhead_belief().deviation() == Approx(1));
}

TEST_CASE_METHOD(fixture, "prices: others wait for fn * k * p, an offload costs its overhead") {
  ran_inline(100, 20);
  offloaded(100, 12, 200);
  const auto price = c.expected(2, k);
  CHECK(std::exp(price.inline_log) == Approx(100 * 0.15 * 2).epsilon(0.01));
  CHECK(std::exp(price.offload_log) == Approx(12).epsilon(0.02));
  CHECK(price.lower() == arm::offload);
  CHECK(c.expected(0.5, k).lower() == arm::inline_here);
}

TEST_CASE_METHOD(fixture, "without pressure inline is free") {
  ran_inline(240);
  splitmix64 random{1};
  for (int i = 0; i < 1000; ++i)
    CHECK(c.draw(0, k, random).lower() == arm::inline_here);
}

TEST_CASE_METHOD(fixture, "while nobody offloads, the overhead fades towards its prior") {
  offloaded(20, 5000, 3);
  CHECK(overhead_us() > 900);
  const double certain = c.offload_belief().n();
  ran_inline(500, 346); // ten of them cost as much as a trial
  CHECK(c.offload_belief().n() == Approx(certain / 2).epsilon(0.02));
  ran_inline(500, 5000);
  CHECK(overhead_us() == Approx(10).epsilon(0.02));
  CHECK(c.overhead_belief().deviation() == Approx(1).margin(0.001));
}

// Two overheads, of which one met a crowd, have a posterior that promises everything.
TEST_CASE_METHOD(fixture,
                 "no draw is below a quarter of the calibrated overhead, unless the mean is") {
  splitmix64 random{1};
  const auto lowest = [&] {
    double result = 1e9;
    for (int i = 0; i < 1000; ++i)
      result = std::min(result, std::exp(c.draw(1, k, random).offload_log));
    return result;
  };
  ran_inline(1);
  offloaded(1, 10'000);
  CHECK(lowest() == Approx(k.offload_overhead_us / 4));
  offloaded(1, 0.5, 50);
  CHECK(lowest() < k.offload_overhead_us / 4);
}

TEST_CASE_METHOD(fixture, "it fades the slower the more inline runs a trial is worth") {
  offloaded(20, 1000, 3);
  const double certain = c.offload_belief().n();
  ran_inline(1, 346);
  CHECK(c.offload_belief().n() > 0.98 * certain);
  ran_inline(1, 99 * 346);
  CHECK(c.offload_belief().n() == Approx(certain / 2).epsilon(0.05));
}

TEST_CASE_METHOD(fixture, "a round trip shorter than the time inside counts as a tiny overhead") {
  c.observe(arm::offload, 50, 80, 80, k); // two clocks
  CHECK(std::isfinite(c.offload_belief().mean()));
  CHECK(std::exp(c.offload_belief().mean()) == Approx(0.01));
}

TEST_CASE_METHOD(fixture, "a handler that ran in parallel has its overhead from the wall clock") {
  // 100 us wall in all, 90 of them inside, in which two executors worked 170.
  c.observe(arm::offload, 100, 170, 90, k);
  CHECK(function_us() == Approx(170));
  CHECK(std::exp(c.offload_belief().mean()) == Approx(10));
}

TEST_CASE_METHOD(fixture, "an offload of unknown function time teaches nothing") {
  c.observe(arm::offload, 400, std::nullopt, 400, k);
  CHECK(c.cold(k));
  CHECK(c.offload_belief().n() == 0);
}

TEST_CASE_METHOD(fixture, "an adopted prior weighs as one observation") {
  c.adopt({std::log(40.0), std::log(25.0)}, k);
  CHECK_FALSE(c.cold(k));
  CHECK(function_us() == Approx(40));
  CHECK(overhead_us() == Approx(25));
  ran_inline(160);
  CHECK(function_us() == Approx(80));                       // the geometric mean of 40 and 160
  CHECK(std::exp(c.inline_belief().mean()) == Approx(160)); // the belief that others are told
  ran_inline(160, 4);
  CHECK(function_us() == Approx(160)); // five own observations: the prior is dropped
}

TEST_CASE("the literal model draws both arms and multiplies logarithms") {
  const auto k = knobs::seed_literal();
  costs c{k};
  CHECK(c.cold(k));
  for (int i = 0; i < 2000; ++i)
    c.observe(arm::inline_here, 100, 100, 100, k);
  CHECK_FALSE(c.cold(k));
  CHECK(c.offload_belief().n() == 0);
  splitmix64 random{1};
  double in = 0;
  double off = 0;
  for (int i = 0; i < 10'000; ++i) {
    const auto price = c.draw(3, k, random);
    in += price.inline_log / 10'000;
    off += price.offload_log / 10'000;
  }
  CHECK(in == Approx(c.inline_belief().mean() * 1.45).epsilon(0.01));
  CHECK(off == Approx(std::log(100.0) + std::log(300.0)).epsilon(0.01));
}

TEST_CASE("the literal model takes costs below a microsecond for one") {
  const auto k = knobs::seed_literal();
  costs c{k};
  c.observe(arm::inline_here, 0.01, 0.01, 0.01, k);
  CHECK(c.inline_belief().mean() == 0);
}
