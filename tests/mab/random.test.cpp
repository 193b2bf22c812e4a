#include <basal/mab/detail/normal.hpp>
#include <basal/mab/random.hpp>

#include "support/catch.hpp"

#include <cmath>
#include <random>

using namespace basal::mab;

static_assert(random_source<splitmix64>);
static_assert(random_source<std::mt19937_64>);
static_assert(!random_source<std::mt19937>, "only 32 of the bits would be random");

TEST_CASE("the quantile inverts the distribution function, in the middle and in both tails") {
  const auto distribution = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
  for (const double u : {1e-15, 1e-12, 1e-6, 0.001, 0.02, 0.074, 0.076, 0.3, 0.5})
    CHECK(distribution(normal_quantile(u)) == Approx(u).epsilon(1e-5));
  for (const double u : {0.6, 0.924, 0.926, 0.98, 0.999, 1 - 1e-6})
    CHECK(normal_quantile(u) == Approx(-normal_quantile(1 - u)).epsilon(1e-6));
  CHECK(normal_quantile(0.5) == 0);
}

TEST_CASE("the quantile grows with its argument") {
  double last = normal_quantile(1e-9);
  for (int i = 1; i < 10'000; ++i) {
    const double next = normal_quantile(i / 10'000.0);
    REQUIRE(next > last);
    last = next;
  }
}

TEST_CASE("uniform numbers never touch 0 or 1, so every draw is finite") {
  struct constant {
    using result_type = std::uint64_t;
    static constexpr result_type min() {
      return 0;
    }
    static constexpr result_type max() {
      return ~result_type{0};
    }
    result_type operator()() {
      return value;
    }
    result_type value;
  };
  constant lowest{0};
  constant highest{~std::uint64_t{0}};
  CHECK(uniform(lowest) > 0);
  CHECK(uniform(highest) < 1);
  CHECK(std::isfinite(standard_normal(lowest)));
  CHECK(std::isfinite(standard_normal(highest)));
}

TEST_CASE("draws have mean 0 and variance 1, with either kind of source") {
  const auto check = [](auto random) {
    double sum = 0;
    double squares = 0;
    constexpr int n = 400'000;
    for (int i = 0; i < n; ++i) {
      const double z = standard_normal(random);
      sum += z;
      squares += z * z;
    }
    CHECK(std::abs(sum / n) < 0.006);
    CHECK(squares / n == Approx(1).margin(0.01));
  };
  check(splitmix64{1});
  check(std::mt19937_64{1});
}

TEST_CASE("splitmix64 gives the published sequence") {
  splitmix64 random{1234567};
  CHECK(random() == 6457827717110365317u);
  CHECK(random() == 3203168211198807973u);
  CHECK(random() == 9817491932198370423u);
}
