#include <basal/mab/calibration.hpp>
#include <basal/mab/knobs.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <stdexcept>

using namespace basal::mab;
using namespace std::chrono_literals;

TEST_CASE("calibration reports median and p99 of the round trips after the warm-up") {
  std::chrono::nanoseconds time{0};
  int trips = 0;
  const auto result = calibrate(
    [&] {
      ++trips;
      // The warm-up is slow, every fiftieth trip is slow, the others take 1 to 9 us.
      time += trips <= 100 ? 5ms : trips % 50 == 0 ? 700us : 1us * (1 + trips % 9);
    },
    [&] { return time; });
  CHECK(trips == 1100);
  CHECK(result.round_trips == 1000);
  CHECK(result.p50_us == Approx(5).margin(0.01));
  CHECK(result.p99_us == Approx(700));
  CHECK(result.quickest_us == Approx(1));
  CHECK(result.overhead_us() == result.p50_us);
}

TEST_CASE("a clock that does not move still gives a valid knob") {
  const auto result = calibrate([] {}, [] { return std::chrono::nanoseconds{0}; }, 10, 0);
  CHECK(result.p50_us == 0);
  knobs k;
  k.offload_overhead_us = result.overhead_us();
  CHECK_NOTHROW(k.validate());
}

TEST_CASE("no round trips are refused, and errors of a trip reach the caller") {
  const auto now = [] { return std::chrono::nanoseconds{0}; };
  CHECK_THROWS_AS(calibrate([] {}, now, 0), std::invalid_argument);
  CHECK_THROWS_AS(calibrate([] { throw std::runtime_error("no executor"); }, now),
                  std::runtime_error);
}
