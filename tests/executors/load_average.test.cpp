#include <basal/executors/detail/load_average.hpp>

#include "support/catch.hpp"

#include <cmath>

using basal::executors::load_average;

namespace {

constexpr std::uint64_t window = 1'000'000;
constexpr double resolution = 0.005; // of the time: 4096 ticks of a window

} // namespace

TEST_CASE("the load of one who never ran is 0, and of one who always runs goes to 1") {
  load_average load{window};
  CHECK(load.at(0) == 0);
  CHECK(load.at(10 * window) == 0);
  load.set_running(true, 0);
  CHECK(load.at(window) == Approx(1 - std::exp(-1)).margin(resolution));
  CHECK(load.at(10 * window) > 0.99);
}

TEST_CASE("a sleeper's load decays without anybody writing it") {
  load_average load{window};
  load.set_running(true, 0);
  load.set_running(false, 20 * window);
  CHECK(load.at(20 * window) > 0.99);
  CHECK(load.at(21 * window) == Approx(std::exp(-1)).margin(resolution));
  CHECK(load.at(40 * window) < 0.001);
}

TEST_CASE("half of the time in short turns is a load of a half") {
  load_average load{window};
  std::uint64_t now = 0;
  for (int i = 0; i < 200; ++i) {
    load.set_running(true, now);
    now += window / 10;
    load.set_running(false, now);
    now += window / 10;
  }
  CHECK(load.at(now) == Approx(0.475).margin(0.03)); // it has just slept for a tenth
}

TEST_CASE("a reader whose clock is behind sees the last change") {
  load_average load{window};
  load.set_running(true, 0);
  load.set_running(false, 5 * window);
  CHECK(load.at(5 * window - 10'000) == Approx(load.at(5 * window)).margin(resolution));
}

TEST_CASE("the clock may wrap at 2^52 ticks") {
  load_average load{window};
  const auto end = std::uint64_t{1} << 52;
  load.set_running(true, end - 10 * window);
  CHECK(load.at(end + 10 * window) > 0.99);
  load.set_running(false, end + 10 * window);
  CHECK(load.at(end + 11 * window) == Approx(std::exp(-1)).margin(resolution));
}
