// Whatever numbers come in, chance makes many worlds of them: nothing undefined happens, nothing
// that is not finite stays, and the chooser goes on.

#include <basal/mab/mab.hpp>

#include "support/catch.hpp"

#include <cmath>
#include <iterator>
#include <limits>
#include <stdexcept>

using namespace basal::mab;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

constexpr double odd[]
  = {not_a_number, infinite, -infinite, 0.0,  -0.0,  -1.0,   1e-320, 1e-9,  1e-3,  1.0,
     20.0,         400.0,    1e9,       1e12, 1e300, -1e300, 1e308,  999.9, 1e-300};

double any(splitmix64& random) {
  return odd[random() % std::size(odd)];
}

microseconds any_time(splitmix64& random) {
  return microseconds{any(random)};
}

// Valid, with a few of them at their bounds.
knobs any_knobs(splitmix64& random) {
  for (;;) {
    knobs k;
    for (const auto& info : knob_table())
      if (random() % 4 == 0)
        k.*info.value = random() % 2 == 0 ? info.low : info.high;
    k.chosen_by = static_cast<policy>(random() % 5);
    k.model = static_cast<cost_model>(random() % 3);
    try {
      k.validate();
      return k;
    } catch (const std::invalid_argument&) {
      // a bound that is not allowed, or in the wrong order: again
    }
  }
}

void check_finite(const chooser& c) {
  CHECK(std::isfinite(c.effective_ema_us()));
  CHECK(std::isfinite(c.strikes()));
  for (const auto& p : {c.believed().inline_belief(), c.believed().offload_belief(),
                        c.believed().function_belief(), c.believed().overhead_belief()}) {
    CHECK(std::isfinite(p.n()));
    CHECK(std::isfinite(p.mean()));
    CHECK(std::isfinite(p.variance()));
  }
  CHECK(std::isfinite(c.last().pressure));
  CHECK(std::isfinite(c.last().pressure_meanwhile));
  const auto g = c.next_grant();
  CHECK(g.runs <= grant::max_runs);
  CHECK(std::isfinite(g.limit.count()));
  CHECK_FALSE(explain(c).empty());
}

} // namespace

TEST_CASE("a chooser takes any load, outcome and grant") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    INFO("seed " << seed);
    splitmix64 random{seed};
    family shared{"odd", seed % 2 == 0 ? knobs{} : any_knobs(random)};
    chooser c{shared};
    for (int i = 0; i < 200; ++i) {
      const load now{static_cast<std::uint32_t>(random() % 3),
                     random() % 5 == 0 ? ~0u : static_cast<std::uint32_t>(random() % 100),
                     any(random)};
      auto d = c.choose(now, random, static_cast<compute_hint>(random() % 4));
      outcome o{.cost = any_time(random)};
      if (random() % 2 == 0)
        o.function_time = any_time(random);
      if (random() % 2 == 0)
        o.elapsed = any_time(random);
      if (random() % 8 != 0)
        d.finish(o);
      if (random() % 4 == 0)
        c.finish_granted(static_cast<std::uint32_t>(random() % 70), any_time(random));
    }
    check_finite(c);
    const auto seen = shared.snapshot();
    CHECK(std::isfinite(seen.pressure));
    if (seen.learned) {
      CHECK(std::isfinite(seen.learned->log_function_us));
      CHECK(std::isfinite(seen.learned->log_overhead_us.value_or(0)));
    }
  }
}

// The average of such runs was once read without looking whether there was one.
TEST_CASE("granted runs that took no time at all are counted and teach nothing") {
  family shared{"orders"};
  chooser c{shared};
  c.finish_granted(7, microseconds{not_a_number});
  CHECK(c.counters()[event::finished] == 7);
  CHECK(c.counters()[event::inline_decision] == 7);
  CHECK(c.counters()[event::clamped_cost] == 1);
  CHECK(c.effective_ema_us() == 0);
  CHECK(c.believed().inline_belief().n() == 0);
}

TEST_CASE("a pressure is a number from 0 to the clip, whatever the load and the weights") {
  splitmix64 random{1};
  for (int i = 0; i < 100'000; ++i) {
    const auto k = i % 10 == 0 ? any_knobs(random) : knobs{};
    const load now{static_cast<std::uint32_t>(random() % 3), static_cast<std::uint32_t>(random()),
                   any(random)};
    for (const double p : {pressure_index(now, k), pressure_during(now, any(random), k)})
      REQUIRE((p >= 0 && p <= k.pressure_clip));
  }
}

TEST_CASE("a rate is a number whatever is counted, and fades") {
  using namespace std::chrono_literals;
  splitmix64 random{1};
  for (const double constant_s : odd) {
    rate_meter meter{0ns, std::chrono::duration<double>{constant_s}};
    for (int i = 0; i < 100; ++i) {
      meter.count(std::chrono::nanoseconds{i}, any(random));
      const double rate = meter.per_second(std::chrono::nanoseconds{i});
      REQUIRE((rate >= 0 && rate <= most_rate_per_s));
    }
  }
  rate_meter meter{0ns};
  meter.count(0ns, infinite);
  CHECK(meter.per_second(600s) < 1);
}

TEST_CASE("a family keeps no mean that is none") {
  family shared{"orders"};
  for (const double mean : {not_a_number, infinite, -infinite})
    for (const double n : {not_a_number, 0.0, 1.0, infinite})
      shared.publish({n, mean, 0}, {n, mean, 0}, 0, {});
  CHECK_FALSE(shared.learned());
  shared.publish({1, std::log(20), 0}, {1, std::log(12), 0}, 0, {});
  CHECK(shared.learned()->log_function_us == std::log(20));
}

TEST_CASE("every knob that is no number in its range is refused by name") {
  for (const auto& info : knob_table())
    for (const double bad : {not_a_number, infinite, -infinite, -1.0, 1e300}) {
      knobs k;
      k.*info.value = bad;
      try {
        k.validate();
        FAIL(info.name << " may be " << bad);
      } catch (const std::invalid_argument& e) {
        CHECK(std::string{e.what()}.find(info.name) != std::string::npos);
      }
    }
}

TEST_CASE("an overhead for the knobs comes of any calibration") {
  for (const double us : odd) {
    const double overhead = calibration{us, us, 1}.overhead_us();
    CHECK(overhead >= 1e-3);
  }
}
