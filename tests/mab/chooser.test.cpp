#include <basal/mab/chooser.hpp>

#include "mab/simulation.hpp"
#include "support/catch.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>

using namespace basal::mab;
using namespace basal::mab::simulation;

namespace {

std::size_t allocations = 0; // of this single-threaded program

} // namespace

// Not inlined: g++ 14 would see free() for memory of the operator new, which it does not look into.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* p = std::malloc(bytes))
    return p;
  throw std::bad_alloc{};
}

// std::stable_sort's, whose memory the operators delete below release, too.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes);
}

[[gnu::noinline]] void operator delete(void* p) noexcept {
  std::free(p);
}

[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}

namespace {

struct fixture {
  family shared{"orders"};
  chooser c{shared};
  splitmix64 random{1};
  load calm = load_of(0.7);

  decision choose(compute_hint hint = compute_hint::unknown) {
    return c.choose(calm, random, hint);
  }

  void finish(decision& d, double cost_us, double fn_us) {
    d.finish({.cost = microseconds{cost_us}, .function_time = microseconds{fn_us}});
  }

  arm step(double fn_us, double overhead_us = 12, compute_hint hint = compute_hint::unknown) {
    auto d = choose(hint);
    finish(d, d.choice() == arm::offload ? fn_us + overhead_us : fn_us, fn_us);
    return d.choice();
  }

  std::uint64_t count(event x) const {
    return c.counters()[x];
  }

  std::uint64_t count(guardrail x) const {
    return c.counters()[x];
  }
};

} // namespace

TEST_CASE_METHOD(fixture, "a cold chooser runs inline, which is cheaper if the handler is fast") {
  CHECK(step(20) == arm::inline_here);
  CHECK(c.last().why == reason::cold_start);
  CHECK(count(event::cold_start) == 1);
}

TEST_CASE_METHOD(fixture, "the average function time: the first counts alone, then 10 % each") {
  step(100);
  CHECK(c.effective_ema_us() == 100);
  step(200);
  CHECK(c.effective_ema_us() == Approx(110));
  step(10);
  CHECK(c.effective_ema_us() == Approx(100));
}

TEST_CASE_METHOD(fixture, "known slow handlers are offloaded by GR1, fast ones learned inline") {
  for (int i = 0; i < 100; ++i)
    step(3000);
  CHECK(count(event::inline_decision) == 1);
  CHECK(count(guardrail::gr1) == 99);
}

TEST_CASE_METHOD(fixture, "a single executor offloads what is not tiny: GR0 is counted") {
  calm = load_of(0.1, 1);
  step(80);
  for (int i = 0; i < 9; ++i)
    CHECK(step(80) == arm::offload);
  CHECK(count(guardrail::gr0) == 9);
}

TEST_CASE_METHOD(fixture, "a strike forbids inline until the next outcome") {
  for (int i = 0; i < 50; ++i)
    step(5);
  CHECK(step(1500) == arm::inline_here);
  CHECK(c.strikes() == 1);
  CHECK(count(event::starvation) == 1);
  CHECK(c.effective_ema_us() < 250); // so that GR3 is what acts, not GR1
  CHECK(step(5) == arm::offload);
  CHECK(c.last().guard == guardrail::gr3);
  CHECK(count(guardrail::gr3) == 1);
  CHECK(c.strikes() == Approx(0.993));
  step(5);
  CHECK(count(guardrail::gr3) == 1);
}

TEST_CASE_METHOD(fixture, "a run of exactly t_strike_us is no strike, the least bit longer is") {
  const double threshold = shared.settings().t_strike_us;
  for (const auto& [us, strikes] :
       {std::pair{threshold, 0u}, {std::nextafter(threshold, 2e3), 1u}}) {
    family alone{"threshold"};
    chooser fresh{alone};
    auto d = fresh.choose(calm, random, compute_hint::low);
    REQUIRE(d.choice() == arm::inline_here);
    finish(d, us, us);
    CHECK(fresh.strikes() == strikes);
    CHECK(fresh.counters()[event::starvation] == strikes);
  }
}

TEST_CASE_METHOD(fixture, "two strikes at once take 99 outcomes to fade below one") {
  for (int i = 0; i < 50; ++i)
    step(5);
  auto first = choose(); // two messages of one actor, both decided before either ends
  auto second = choose();
  REQUIRE(first.choice() == arm::inline_here);
  REQUIRE(second.choice() == arm::inline_here);
  finish(first, 1100, 1100);
  finish(second, 1100, 1100);
  CHECK(c.strikes() == Approx(1.993));
  int outcomes = 0;
  for (; c.strikes() >= 1 && outcomes < 1000; ++outcomes) {
    CHECK(step(5) == arm::offload);
    CHECK(c.last().guard == guardrail::gr3);
  }
  CHECK(outcomes == 99);
}

TEST_CASE_METHOD(fixture, "strikes are capped at twice s_max") {
  auto first = choose();
  std::vector<decision> cold;
  for (int i = 0; i < 9; ++i)
    cold.push_back(choose());
  for (auto& d : cold)
    finish(d, 5000, 5000);
  CHECK(c.strikes() <= 2);
  CHECK(count(event::starvation) == 9);
  finish(first, 5000, 5000);
}

TEST_CASE_METHOD(fixture, "strikes fade to zero, not to a denormal number") {
  step(1500);
  REQUIRE(c.strikes() == 1);
  for (int i = 0; i < 5000; ++i)
    step(5);
  CHECK(c.strikes() == 0);
}

TEST_CASE_METHOD(fixture, "an offload of any length is no strike") {
  for (int i = 0; i < 30; ++i)
    step(3000);
  CHECK(count(event::starvation) == 1); // the cold start's
}

TEST_CASE_METHOD(fixture, "hints: high forces three offloads and is counted") {
  for (int i = 0; i < 3; ++i) {
    CHECK(step(20, 12, compute_hint::high) == arm::offload);
    CHECK(c.last().why == reason::hint_exploration);
  }
  CHECK(count(event::hint_offload) == 3);
  CHECK(count(event::offload_decision) == 3);
  step(20);
  CHECK(count(event::hint_offload) == 3);
}

// In loom-rs a wrong hint of 1000 us keeps GR1 up for 14 to 18 observations.
TEST_CASE_METHOD(fixture, "a wrong high hint is forgotten after the fifth observation") {
  int offloads = 0;
  while (step(20, 12, compute_hint::high) == arm::offload && offloads < 1000)
    ++offloads;
  CHECK(offloads <= 5);
}

TEST_CASE_METHOD(fixture, "hints: low and medium start inline, medium not on one executor") {
  SECTION("low") {
    CHECK(step(30, 12, compute_hint::low) == arm::inline_here);
  }
  SECTION("medium") {
    CHECK(step(200, 12, compute_hint::medium) == arm::inline_here);
    CHECK(c.last().ema_us == 200);
  }
  SECTION("medium on one executor") {
    calm = load_of(0.1, 1);
    CHECK(step(200, 12, compute_hint::medium) == arm::offload);
    CHECK(c.last().guard == guardrail::gr0);
  }
}

TEST_CASE_METHOD(fixture, "a hint matters at the first decision only") {
  step(20);
  CHECK(step(20, 12, compute_hint::high) == arm::inline_here);
  CHECK(count(event::hint_offload) == 0);
}

TEST_CASE_METHOD(fixture, "a dropped decision is counted and teaches nothing") {
  { auto d = choose(); }
  CHECK(count(event::abandoned) == 1);
  CHECK(count(event::finished) == 0);
  CHECK(c.effective_ema_us() == 0);
  CHECK(c.believed().inline_belief().n() == 0);
}

TEST_CASE_METHOD(fixture, "a second outcome is counted and ignored") {
  auto d = choose();
  finish(d, 20, 20);
  finish(d, 9999, 9999);
  CHECK(count(event::finished) == 1);
  CHECK(count(event::finished_twice) == 1);
  CHECK(c.effective_ema_us() == 20);
  CHECK(count(event::starvation) == 0);
}

TEST_CASE_METHOD(fixture, "a moved token is finished once, by its new holder") {
  {
    auto d = choose();
    auto holder = std::move(d);
    finish(d, 9999, 9999); // NOLINT(bugprone-use-after-move): that is what is tested
    finish(holder, 20, 20);
  }
  CHECK(count(event::finished) == 1);
  CHECK(count(event::abandoned) == 0);
  CHECK(count(event::finished_twice) == 0);
  CHECK(c.effective_ema_us() == 20);
}

TEST_CASE_METHOD(fixture, "impossible costs are clamped and counted, and nothing goes infinite") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  for (const double bad : {0.0, -1.0, -infinite, infinite, 1e12, nan}) {
    const auto before = count(event::clamped_cost);
    auto d = choose();
    finish(d, bad, bad);
    CHECK(count(event::clamped_cost) == before + 2);
  }
  for (const double bad : {0.0, -1.0, infinite, 1e12, nan}) {
    auto d = choose();
    d.finish({.cost = microseconds{bad},
              .function_time = microseconds{bad},
              .elapsed = microseconds{-bad}});
  }
  CHECK(std::isfinite(c.effective_ema_us()));
  CHECK(std::isfinite(c.strikes()));
  CHECK(std::isfinite(c.believed().inline_belief().mean()));
  CHECK(std::isfinite(c.believed().inline_belief().variance()));
  CHECK(std::isfinite(c.believed().overhead_belief().mean()));
  CHECK(std::isfinite(c.believed().overhead_belief().variance()));
  for (int i = 0; i < 300; ++i)
    step(20);
  CHECK(step(20) == arm::inline_here); // and the chooser recovers
}

TEST_CASE_METHOD(fixture, "NaN counts as not measured") {
  auto d = choose();
  finish(d, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN());
  CHECK(c.effective_ema_us() == 0);
  CHECK(count(event::missing_function_time) == 1);
}

TEST_CASE_METHOD(fixture, "inline, a missing function time is the cost") {
  auto d = choose();
  d.finish({.cost = microseconds{33}});
  CHECK(c.effective_ema_us() == 33);
  CHECK(count(event::missing_function_time) == 0);
}

TEST_CASE_METHOD(fixture, "every duration type is accepted as a cost") {
  using namespace std::chrono_literals;
  auto d = choose();
  d.finish({.cost = 42'500ns, .function_time = 40us});
  CHECK(c.effective_ema_us() == 40);
}

TEST_CASE_METHOD(fixture, "choosing and finishing never allocate") {
  step(20);
  const auto before = allocations;
  for (int i = 0; i < 1000; ++i) {
    step(i % 7 == 0 ? 2000 : 20);
    auto dropped = choose();
  }
  CHECK(allocations == before);
}

TEST_CASE_METHOD(fixture, "equal seeds make equal decisions") {
  actor a{knobs{}, 42};
  actor b{knobs{}, 42};
  actor other{knobs{}, 43};
  tally t;
  int same = 0;
  int same_as_other = 0;
  const world near_break_even{.function_us = 100, .function_sigma = 0.5, .overhead_sigma = 0.5};
  for (int i = 0; i < 500; ++i) {
    const auto choice = a.step(near_break_even, calm, t);
    same += choice == b.step(near_break_even, calm, t);
    same_as_other += choice == other.step(near_break_even, calm, t);
  }
  CHECK(same == 500);
  CHECK(same_as_other < 500);
}

TEST_CASE("choosers stay small: ten thousand actors must not cost megabytes each") {
  CHECK(sizeof(chooser) <= 768);
  CHECK(sizeof(decision) <= 16);
}
