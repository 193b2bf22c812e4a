#include <basal/mab/rate_meter.hpp>

#include "support/catch.hpp"

using namespace basal::mab;
using namespace std::chrono_literals;

TEST_CASE("a steady stream of events reads its rate") {
  rate_meter m{0ns};
  rate_meter::time now{0};
  for (int i = 0; i < 20'000; ++i)
    m.count(now += 500us);
  CHECK(m.per_second(now) == Approx(2000).epsilon(0.01));
}

// A window that is emptied every second reads 0 right afterwards, and pressure with it.
TEST_CASE("the rate of a steady stream never drops to zero, at no moment") {
  rate_meter m{0ns};
  rate_meter::time now{0};
  double lowest = 1e9;
  for (int i = 0; i < 50'000; ++i) {
    m.count(now += 100us);
    if (now > 5s)
      lowest = std::min(lowest, m.per_second(now));
  }
  for (; now < 10s; now += 100us) {
    m.count(now);
    lowest = std::min(lowest, m.per_second(now));
  }
  CHECK(lowest > 9'800);
}

TEST_CASE("silence makes the rate fade, by 63 % per time constant") {
  rate_meter m{0ns, 2s};
  m.count(0ns, 1000);
  CHECK(m.per_second(0ns) == Approx(500));
  CHECK(m.per_second(2s) == Approx(500 * 0.3679).epsilon(0.001));
  CHECK(m.per_second(100s) < 1e-10);
}

TEST_CASE("a clock that steps back changes nothing") {
  rate_meter m{10s};
  m.count(10s, 100);
  CHECK(m.per_second(3s) == Approx(100));
  CHECK(m.per_second(10s) == Approx(100));
}
