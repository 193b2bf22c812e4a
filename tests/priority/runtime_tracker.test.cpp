#include <basal/priority/runtime_tracker.hpp>

#include "support/catch.hpp"

#include <cmath>
#include <limits>

using namespace basal::priority;
using seconds = std::chrono::duration<double>;

namespace {

void record(runtime_tracker& t, task_key type, double runtime_s, int times) {
  for (int i = 0; i < times; ++i)
    t.record(type, seconds{runtime_s});
}

} // namespace

TEST_CASE("an unknown type is estimated by the median of all, and a known one by its own") {
  runtime_tracker t{16};
  const task_key parse{"parse"};
  const task_key link{"link"};
  CHECK(t.estimate_s(parse) == 0);
  record(t, link, 2.0, 10);
  CHECK(t.estimate_s(parse) == 2.0);
  record(t, parse, 0.001, 4);
  CHECK(t.estimate_s(parse) == t.stats().global_median_s); // four are not enough
  CHECK(t.estimate_s(parse) > 1);
  record(t, parse, 0.001, 1);
  CHECK(t.estimate_s(parse) == Approx(0.001));
  CHECK(t.estimate_s(link) == 2.0);
  CHECK(t.estimate_s(task_key{}) == t.stats().global_median_s);
  CHECK(t.stats().types == 2);
}

TEST_CASE("keys of the same name with other details are other types") {
  CHECK(task_key{"eval"} == task_key{"eval"});
  CHECK_FALSE(task_key{"eval"} == task_key{"parse"});
  CHECK(task_key{"eval", 1} == task_key{"eval", 1});
  CHECK_FALSE(task_key{"eval", 1} == task_key{"eval", 2});
  CHECK_FALSE(task_key{"eval", 0} == task_key{"eval"});
  CHECK_FALSE(task_key{""} == task_key{});
}

TEST_CASE("a type that got slower is known to be slow within a window") {
  runtime_tracker t{16};
  const task_key type{"grows"};
  record(t, type, 0.001, 100'000);
  record(t, type, 0.010, static_cast<int>(windowed_quantile::default_window));
  CHECK(t.estimate_s(type) == Approx(0.010));
}

TEST_CASE("runtimes that cannot be are clamped and counted") {
  runtime_tracker t{16};
  const task_key type{"clock steps"};
  const double odd[]
    = {0, -1, -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(),
       std::numeric_limits<double>::infinity()};
  for (const double s : odd)
    t.record(type, seconds{s});
  CHECK(t.stats().clamped == 5);
  CHECK(t.stats().recorded == 5);
  // The median of four such and a long one.
  CHECK(t.estimate_s(type) == Approx(runtime_tracker::shortest_s));
  record(t, type, 1e9, 1000);
  CHECK(t.estimate_s(type) == runtime_tracker::longest_s);
  CHECK(t.stats().clamped == 1005);
}

TEST_CASE("a million types do not take more room than the cap") {
  runtime_tracker t{4096};
  for (std::uint64_t i = 0; i < 1'000'000; ++i)
    t.record(task_key{"eval", i}, seconds{0.001});
  const auto s = t.stats();
  CHECK(s.types <= 4096);
  CHECK(s.types > 4000);
  CHECK(s.evicted == 1'000'000 - s.types);
  CHECK(t.estimate_s(task_key{"eval", 0}) == Approx(0.001)); // forgotten: the global median
}

TEST_CASE("the type not seen for longest is forgotten first") {
  runtime_tracker t{2};
  const task_key a{"a"}, b{"b"}, c{"c"};
  record(t, a, 1.0, 5);
  record(t, b, 2.0, 5);
  record(t, a, 1.0, 1);
  record(t, c, 3.0, 5); // in the place of b
  CHECK(t.estimate_s(a) == 1.0);
  CHECK(t.estimate_s(c) == 3.0);
  CHECK(t.stats().evicted == 1);
  CHECK(t.stats().types == 2);
  record(t, b, 2.0, 1);
  CHECK(t.estimate_s(b) == t.stats().global_median_s); // starts anew
}

TEST_CASE("half as many types as the cap are remembered, but for a few") {
  runtime_tracker t{4096};
  for (int round = 0; round < 5; ++round)
    for (std::uint64_t i = 0; i < 2048; ++i)
      t.record(task_key{"eval", i}, seconds{static_cast<double>(i + 1)});
  int known = 0;
  for (std::uint64_t i = 0; i < 2048; ++i)
    known += t.estimate_s(task_key{"eval", i}) == static_cast<double>(i + 1);
  CHECK(known > 1900);
}

TEST_CASE("a tracker of no types is refused") {
  CHECK_THROWS_AS(runtime_tracker{0}, std::invalid_argument);
}
