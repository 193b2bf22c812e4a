#include <basal/mab/chooser.hpp>

#include "mab/simulation.hpp"
#include "support/catch.hpp"

#include <cmath>

using namespace basal::mab;
using namespace basal::mab::simulation;

namespace {

/// The grant of a settled chooser after an inline run of `w`; without runs if none ran inline.
grant granted_for(const world& w, const load& now, const knobs& k = {}) {
  actor a{k};
  a.run(w, now, 200);
  tally t;
  for (int i = 0; i < 100 && t.inline_runs == 0; ++i)
    a.step(w, now, t);
  return a.decider().next_grant();
}

struct settled {
  family shared{"orders"};
  chooser c{shared};
  splitmix64 random{1};

  settled() {
    for (int i = 0; i < 200; ++i)
      step(2);
  }

  arm step(double us) {
    auto d = c.choose(load_of(0.7), random);
    d.finish({.cost = microseconds{d.choice() == arm::offload ? us + 12 : us},
              .function_time = microseconds{us}});
    return d.choice();
  }
};

} // namespace

TEST_CASE("nothing is granted before 64 outcomes are known") {
  actor a;
  CHECK(a.decider().next_grant().runs == 0);
  a.run({.function_us = 2}, load_of(0.7), 63);
  CHECK(a.decider().next_grant().runs == 0);
  a.run({.function_us = 2}, load_of(0.7), 2); // the first has faded a little
  CHECK(a.decider().next_grant().runs > 0);
}

TEST_CASE("a grant is for 64 runs or 100 us, and ends at a run four times as long as usual") {
  CHECK(granted_for({.function_us = 1}, load_of(0.7)).runs == 64);
  CHECK(granted_for({.function_us = 10}, load_of(0.35)).runs == 9); // the variance counts
  CHECK(granted_for({.function_us = 40}, load_of(0.35)).runs == 2);
  CHECK(granted_for({.function_us = 60}, load_of(0.35)).runs == 0);
  CHECK(granted_for({.function_us = 10}, load_of(0.35)).limit.count() == Approx(40).epsilon(0.02));
}

TEST_CASE("nothing is granted where twice the load would make an offload cheaper") {
  // 20 us x 0.15 x pressure against an overhead of 10 to 12 us
  CHECK(granted_for({.function_us = 20}, load_of(0.7)).runs > 0);
  CHECK(granted_for({.function_us = 20}, load_of(2.5)).runs == 0);
}

TEST_CASE("nothing is granted that a guardrail would forbid under some load") {
  knobs k;
  k.offload_overhead_us = 2;
  const auto calm = load_of(0.1, 1);
  CHECK(granted_for({.function_us = 1.5, .overhead_us = 2}, calm, k).runs == 64);
  CHECK(granted_for({.function_us = 3, .overhead_us = 20}, calm, k).runs
        == 0); // GR0 when others wait
}

TEST_CASE("policies that do not draw grant nothing, but for always_inline") {
  knobs k;
  for (const auto x : {policy::ucb1, policy::static_threshold, policy::always_offload}) {
    k.chosen_by = x;
    CHECK(granted_for({.function_us = 2}, load_of(0.35), k).runs == 0);
  }
  k.chosen_by = policy::always_inline;
  CHECK(granted_for({.function_us = 2}, load_of(0.35), k).runs > 0);
  k = {};
  for (const auto x : {cost_model::separate_arms, cost_model::seed_literal}) {
    k.model = x;
    CHECK(granted_for({.function_us = 2}, load_of(0.35), k).runs == 0);
  }
}

TEST_CASE("runs that are learned together teach what they teach one by one") {
  settled together;
  settled alone;
  REQUIRE(together.c.next_grant().runs >= 40);
  together.c.finish_granted(40, microseconds{40 * 2.1});
  for (int i = 0; i < 40; ++i)
    alone.c.granted().finish({.cost = microseconds{2.1}, .function_time = microseconds{2.1}});
  CHECK(together.c.effective_ema_us() == Approx(alone.c.effective_ema_us()));
  CHECK(together.c.counters()[event::finished] == alone.c.counters()[event::finished]);
  CHECK(together.c.counters()[event::inline_decision]
        == alone.c.counters()[event::inline_decision]);
  const auto& believed = together.c.believed();
  CHECK(believed.inline_belief().n() == Approx(alone.c.believed().inline_belief().n()));
  CHECK(believed.overhead_belief().n() == Approx(alone.c.believed().overhead_belief().n()));
}

TEST_CASE("the belief of runs that were learned together is that of their distribution") {
  actor together{knobs{}, 3, asks::unless_granted};
  const world w{.function_us = 5, .overhead_us = 12, .function_sigma = 0.3};
  together.run(w, load_of(0.35), 50'000);
  const auto& belief = together.decider().believed().inline_belief();
  CHECK(std::exp(belief.mean()) == Approx(5).epsilon(0.03));
  CHECK(belief.variance() == Approx(0.09).epsilon(0.3));
  CHECK(belief.n() == Approx(2881).epsilon(0.05));
}

TEST_CASE_METHOD(settled,
                 "a granted run that turns slow is a strike, and the next one is offloaded") {
  REQUIRE(c.next_grant().runs > 0);
  c.finish_granted(3, microseconds{6});
  c.granted().finish({.cost = microseconds{1500}, .function_time = microseconds{1500}});
  CHECK(c.strikes() == 1);
  CHECK(c.counters()[event::starvation] == 1);
  CHECK(step(2) == arm::offload);
  CHECK(c.last().guard == guardrail::gr3);
}

TEST_CASE("a handler that becomes slow is offloaded within 20 messages, with grants or without") {
  for (const auto when : {asks::always, asks::unless_granted})
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      actor a{knobs{}, seed, when};
      a.run({.function_us = 2, .function_sigma = 0.1}, load_of(2.9), 1000);
      CHECK(a.run({.function_us = 300, .function_sigma = 0.1}, load_of(2.9), 40).offload_runs
            >= 20);
    }
}

TEST_CASE("strikes fade over granted runs as over others") {
  settled together;
  settled alone;
  for (auto* x : {&together, &alone})
    x->c.granted().finish({.cost = microseconds{1500}, .function_time = microseconds{1500}});
  together.c.finish_granted(50, microseconds{100});
  for (int i = 0; i < 50; ++i)
    alone.c.granted().finish({.cost = microseconds{2}, .function_time = microseconds{2}});
  CHECK(together.c.strikes() == Approx(alone.c.strikes()));
  CHECK(together.c.strikes() == Approx(std::pow(0.993, 50)));
}
