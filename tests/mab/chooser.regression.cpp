#include <basal/mab/chooser.hpp>

#include "mab/simulation.hpp"
#include "support/catch.hpp"

using namespace basal::mab;
using namespace basal::mab::simulation;

// GR3's trap door. In loom-rs, strikes fade when an inline run ends, and GR3 forbids inline
// runs: a 20 us handler that took 1.5 ms once, because of a page fault, never ran inline
// again (0 of 4,899).
TEST_CASE("one slow inline run does not forbid inline for ever") {
  actor a;
  a.run({.function_us = 20}, load_of(0.7), 100);
  tally outlier;
  for (int i = 0; i < 100 && outlier.inline_runs == 0; ++i)
    a.step({.function_us = 1500}, load_of(0.7), outlier);
  REQUIRE(a.decider().strikes() >= 1);
  const auto after = a.run({.function_us = 20}, load_of(0.7), 4899);
  CHECK(after.inline_runs > 4700);
  CHECK(a.decider().counters()[guardrail::gr3] <= 2);
}

// GR1's trap door. In loom-rs, streams report an offload's round trip as its function time.
// When the compute executors are crowded, the average climbs above GR1's 250 us; then the
// handler is always offloaded and its average stays up (0 of 2,949).
TEST_CASE("a burst of queueing on the compute executors does not forbid inline for ever") {
  const world crowded{.function_us = 20, .overhead_us = 300};
  const world quiet{.function_us = 20, .overhead_us = 12};
  const auto calm = load_of(0.7);

  SECTION("the bug: round trips taken for function times") {
    family shared{"literal", knobs::seed_literal()};
    chooser c{shared};
    splitmix64 random{1};
    const auto step = [&](const world& w, compute_hint hint) {
      auto d = c.choose(calm, random, hint);
      const double us = d.choice() == arm::offload ? w.function_us + w.overhead_us : w.function_us;
      d.finish({.cost = microseconds{us}});
      return d.choice();
    };
    for (int i = 0; i < 50; ++i)
      step(crowded, compute_hint::high);
    int inline_runs = 0;
    for (int i = 0; i < 2949; ++i)
      inline_runs += step(crowded, compute_hint::unknown) == arm::inline_here;
    CHECK(inline_runs == 0);
  }

  SECTION("function times measured inside") {
    actor a;
    tally burst;
    for (int i = 0; i < 50; ++i)
      a.step(crowded, calm, burst, compute_hint::high);
    CHECK(a.run(quiet, calm, 2949).inline_runs > 2800);
  }

  SECTION("round trips alone teach nothing, rather than something wrong") {
    family shared{"f"};
    chooser c{shared};
    splitmix64 random{1};
    int inline_runs = 0;
    for (int i = 0; i < 3000; ++i) {
      auto d = c.choose(calm, random, compute_hint::high);
      d.finish({.cost = microseconds{d.choice() == arm::offload ? 320.0 : 20.0}});
      inline_runs += d.choice() == arm::inline_here;
    }
    CHECK(inline_runs > 2800);
    CHECK(c.counters()[event::missing_function_time] >= 3);
  }
}

// The stale arm. Where each arm is taught by its own runs only, an arm that is not chosen
// keeps what it believed. A handler that goes from 200 to 20 us was offloaded for the next
// 60,000 messages and more; with both arms' beliefs fading it took 8,500. If an offload
// teaches the inline arm, too, it takes 150: the average is long. A detector of shifts
// makes it a handful.
TEST_CASE("a handler that became fast runs inline again") {
  const auto until_inline = [](const knobs& k, int limit) {
    actor a{k};
    a.run({.function_us = 200}, load_of(0.7), 3000);
    int streak = 0;
    for (int i = 1; i <= limit; ++i) {
      tally t;
      streak = a.step({.function_us = 20}, load_of(0.7), t) == arm::inline_here ? streak + 1 : 0;
      if (streak == 5)
        return i;
    }
    return limit;
  };
  CHECK(until_inline({}, 10'000) <= 20);

  for (const auto model : {cost_model::corrected, cost_model::separate_arms}) {
    knobs no_detector;
    no_detector.model = model;
    no_detector.restart_on_shift = false;
    CHECK(until_inline(no_detector, 10'000) > 100);
  }
}

// The other stale arm, which neither of these cures: while a handler runs inline, the belief
// about its offloads ages. 100 us at pressure 0.7 run inline, after a few offloads; then 30
// us do. When the pressure rises to 5, an offload would cost 42 us, and an inline run 52.
// With one total cost per arm the chooser still expects 112 from an offload.
TEST_CASE("a change while running inline does not leave a wrong idea of offloading") {
  const auto share_inline = [](cost_model model) {
    knobs k;
    k.model = model;
    actor a{k};
    a.run({.function_us = 100}, load_of(0.7), 1000);
    REQUIRE(a.decider().counters()[event::offload_decision] > 0);
    a.run({.function_us = 30}, load_of(0.7), 1000);
    a.run({.function_us = 30}, load_of(5), 200);
    return a.run({.function_us = 30}, load_of(5), 1000).inline_share();
  };
  CHECK(share_inline(cost_model::corrected) < 0.02);
  CHECK(share_inline(cost_model::separate_arms) > 0.98);
}

// A compute executor that starts its thread at the first offload, or is busy just then,
// makes the first offloads cost milliseconds. Were that believed until the next offload,
// there would be none.
TEST_CASE("expensive first offloads do not forbid offloading for ever") {
  actor a;
  const world starting{.function_us = 100, .overhead_us = 5000};
  const world running{.function_us = 100, .overhead_us = 12};
  const auto busy = load_of(2.9); // 100 us inline cost others 43 us
  tally first;
  for (int i = 0; i < 1000 && first.offload_runs < 3; ++i)
    a.step(starting, busy, first);
  REQUIRE(first.offload_runs == 3);
  a.run(running, busy, 2000);
  CHECK(a.run(running, busy, 1000).inline_share() < 0.05);
}

// In loom-rs the prior shared by all functions is written and never read.
TEST_CASE("the ten thousandth actor does not inline what the first found to be slow") {
  auto shared = std::make_shared<family>("slow");
  std::size_t inlined = 0;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    actor a{shared, i};
    tally t;
    a.step({.function_us = 3000}, load_of(0.7), t);
    inlined += t.inline_runs;
  }
  CHECK(inlined == 1);
}

// The chatty handler on a single worker. Whoever answers requests in a few hundred
// nanoseconds nearly always finds others waiting, and GR0 of loom-rs offloads whatever
// comes then: every answer cost the worker a hand-over, which is longer than the handler.
TEST_CASE("a single worker does not hand over what takes less than the hand-over") {
  knobs k;
  k.offload_overhead_us = 2;
  const auto others_wait = load_of(2.1, 1); // three of four clients
  const auto share = [&](const knobs& of, double function_us) {
    actor a{of};
    const world w{.function_us = function_us, .overhead_us = 6}; // offloads queue up
    a.run(w, others_wait, 10);
    return a.run(w, others_wait, 5000).inline_share();
  };
  CHECK(share(k, 1) > 0.99);

  SECTION("what takes longer still goes") {
    CHECK(share(k, 3) == 0);
    CHECK(share(k, 10) == 0);
    CHECK(share(k, 100) == 0);
  }
  SECTION("the bug") {
    auto literal = knobs::seed_literal();
    literal.offload_overhead_us = 2;
    CHECK(share(literal, 1) == 0);
  }
}
