#include <basal/mab/pressure.hpp>

#include "support/catch.hpp"

#include <limits>

using namespace basal::mab;

TEST_CASE("the pressure index has the published values") {
  const knobs k;
  CHECK(pressure_index({4, 4, 100}, k) == Approx(0.7075));
  CHECK(pressure_index({4, 12, 1000}, k) == Approx(2.175));
  CHECK(pressure_index({4, 20, 4000}, k) == Approx(3.8));
  CHECK(pressure_index({4, 40, 8000}, k) == Approx(7.6));
}

TEST_CASE("the pressure index is clipped: 15.5 reads 10") {
  knobs k;
  CHECK(pressure_index({4, 80, 20000}, k) == 10);
  k.pressure_clip = 100;
  CHECK(pressure_index({4, 80, 20000}, k) == Approx(15.5));
}

TEST_CASE("without workers, or with a rate that is no number, nothing presses") {
  CHECK(pressure_index({0, 100, 1e6}, {}) == 0);
  CHECK(pressure_index({4, 0, std::numeric_limits<double>::quiet_NaN()}, {}) == 0);
  CHECK(pressure_index({4, 0, -5}, {}) == 0);
  CHECK(pressure_index({4, 0, std::numeric_limits<double>::infinity()}, {}) == 10);
  // Infinity times nothing is no number.
  CHECK(pressure_index({4, 4, std::numeric_limits<double>::infinity()}, {.w_spawn = 0}) == 0.7);
}

TEST_CASE("of arrivals, a price counts those that come during the run") {
  const knobs k;
  const load now{4, 20, 4000}; // 3.5 by actors that wait, 0.3 by arrivals
  CHECK(pressure_during(now, 0, k) == Approx(3.5));
  CHECK(pressure_during(now, 10, k) == Approx(3.503));
  CHECK(pressure_during(now, 500, k) == Approx(3.65));
  CHECK(pressure_during(now, 1000, k) == pressure_index(now, k));
  CHECK(pressure_during(now, 3000, k) == pressure_index(now, k));
  CHECK(pressure_during({4, 0, 1e9}, 1000, k) == 10);
  CHECK(pressure_during({4, 0, std::numeric_limits<double>::infinity()}, 0, k) == 0);
}

TEST_CASE("the bands are low below 0.5, normal up to 3, high above") {
  const knobs k;
  CHECK(band_of(0.49, k) == pressure_band::low);
  CHECK(band_of(0.5, k) == pressure_band::normal);
  CHECK(band_of(3.0, k) == pressure_band::normal);
  CHECK(band_of(3.01, k) == pressure_band::high);
}
