#include <basal/mab/policies.hpp>

#include "mab/simulation.hpp"
#include "support/catch.hpp"

using namespace basal::mab;
using namespace basal::mab::simulation;

namespace {

knobs with(policy chosen_by, cost_model model = cost_model::corrected) {
  knobs k;
  k.chosen_by = chosen_by;
  k.model = model;
  return k;
}

} // namespace

TEST_CASE("always_inline and always_offload do so, guardrails or not") {
  actor in{with(policy::always_inline)};
  CHECK(in.run({.function_us = 5000}, load_of(10, 1), 50).inline_runs == 50);
  CHECK(in.decider().last().why == reason::annotation);
  actor off{with(policy::always_offload)};
  CHECK(off.run({.function_us = 1}, load_of(0), 50).offload_runs == 50);
}

TEST_CASE("static_threshold offloads what takes more than 100 us on average, at any pressure") {
  actor fast{with(policy::static_threshold)};
  CHECK(fast.run({.function_us = 99}, load_of(9), 100).inline_runs == 100);
  actor slow{with(policy::static_threshold)};
  CHECK(slow.run({.function_us = 101}, load_of(0), 100).inline_runs == 1);
  CHECK(slow.decider().last().why == reason::threshold);
}

TEST_CASE("UCB1 tries both arms and settles on the cheaper one, without chance") {
  for (const auto model : {cost_model::corrected, cost_model::separate_arms}) {
    actor fast{with(policy::ucb1, model)};
    fast.run({.function_us = 5}, load_of(1), 200);
    CHECK(fast.decider().counters()[event::offload_decision] > 0);
    CHECK(fast.run({.function_us = 5}, load_of(1), 1000).inline_share() > 0.9);
    actor slow{with(policy::ucb1, model)};
    slow.run({.function_us = 200, .overhead_us = 2}, load_of(2.9), 200);
    CHECK(slow.run({.function_us = 200, .overhead_us = 2}, load_of(2.9), 1000).inline_share()
          < 0.2);

    actor again{with(policy::ucb1, model), 99};
    actor other_seed{with(policy::ucb1, model), 100};
    CHECK(again.run({}, load_of(2), 500).inline_runs
          == other_seed.run({}, load_of(2), 500).inline_runs);
  }
}

TEST_CASE("UCB1 is guarded as Thompson sampling is") {
  actor a{with(policy::ucb1)};
  const auto t = a.run({.function_us = 3000}, load_of(1), 100);
  CHECK(t.inline_runs == 1);
  CHECK(a.decider().counters()[guardrail::gr1] == 99);
}

TEST_CASE("corrected Thompson sampling consumes one random number when prices decide") {
  struct counting {
    using result_type = std::uint64_t;
    static constexpr result_type min() {
      return 0;
    }
    static constexpr result_type max() {
      return ~result_type{0};
    }
    result_type operator()() {
      ++calls;
      return random();
    }
    splitmix64 random{1};
    int calls = 0;
  } random;
  family shared{"f"};
  chooser c{shared};
  const auto step = [&](double us) {
    auto d = c.choose(load_of(1), random);
    d.finish({.cost = microseconds{us}, .function_time = microseconds{us}});
  };
  step(20); // cold start
  CHECK(random.calls == 0);
  step(20);
  CHECK(c.last().why == reason::prices);
  CHECK(random.calls == 1);
  step(1e6); // the next one is GR1's
  const int before = random.calls;
  step(20);
  CHECK(c.last().guard == guardrail::gr1);
  CHECK(random.calls == before);
}
