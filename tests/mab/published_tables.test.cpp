// The rows of loom-rs's evaluation that are the same on every machine, under the model
// that made them and under ours.

#include <basal/mab/chooser.hpp>

#include "mab/simulation.hpp"
#include "support/catch.hpp"

#include <cmath>
#include <map>

using namespace basal::mab;
using namespace basal::mab::simulation;

namespace {

constexpr load learning_load{4, 2, 100}; // pressure 0.3575

const knobs literal = knobs::seed_literal();

// The source's harness reports the same cost for both arms; ours adds the overhead, since
// with equal costs a correct model rightly prefers to offload.
world work(double us, const knobs& k, double overhead_us = 12) {
  return {.function_us = us, .overhead_us = k.model == cost_model::seed_literal ? 0 : overhead_us};
}

// Observations until the fifth correct decision in a row; 1000: never.
int observations_to_stable(const knobs& k, std::uint64_t seed, const world& w, arm correct) {
  actor a{k, seed};
  int streak = 0;
  for (int i = 1; i < 1000; ++i) {
    tally t;
    streak = a.step(w, learning_load, t) == correct ? streak + 1 : 0;
    if (streak == 5)
      return i;
  }
  return 1000;
}

// Of slow observations after 200 fast ones, until GR1 acts: as many inline runs at most.
int observations_to_gr1(const knobs& k, double slow_us) {
  actor a{k};
  a.run(work(20, k), learning_load, 200);
  const auto before = a.decider().counters()[guardrail::gr1];
  for (int i = 0; i < 1000; ++i) {
    tally t;
    a.step(work(slow_us, k), learning_load, t);
    if (a.decider().counters()[guardrail::gr1] != before)
      return i;
  }
  return -1;
}

} // namespace

TEST_CASE("convergence as published: fast work in 5 observations, slow work in 6") {
  // An offload arm that was never tried may draw a low cost: once in 700 decisions.
  int as_published = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    as_published += observations_to_stable(literal, seed, work(20, literal), arm::inline_here) == 5;
    CHECK(observations_to_stable(literal, seed, work(500, literal), arm::offload) == 6);
  }
  CHECK(as_published >= 38);
}

TEST_CASE("convergence of the corrected model: at most 50 observations, slow work always 6") {
  for (const double overhead_us : {5.0, 12.0})
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      INFO("seed " << seed << ", overhead " << overhead_us);
      const int fast
        = observations_to_stable({}, seed, work(20, {}, overhead_us), arm::inline_here);
      CHECK(fast >= 5);
      CHECK(fast <= 50);
      CHECK(observations_to_stable({}, seed, work(500, {}, overhead_us), arm::offload) == 6);
    }
}

TEST_CASE("a shift from 20 us to slow work is noticed after the published numbers of runs") {
  const std::map<double, int> published{{500, 7}, {260, 31}, {300, 17},
                                        {400, 9}, {1000, 3}, {3000, 1}};
  for (const auto& [slow_us, runs] : published) {
    INFO(slow_us << " us");
    CHECK(runs == std::ceil(std::log((slow_us - 250) / (slow_us - 20)) / std::log(0.9)));
    CHECK(observations_to_gr1(literal, slow_us) == runs);
    CHECK(observations_to_gr1({}, slow_us) == runs);
  }
}

TEST_CASE("workload shift as published: 100 %, then 14 % inline in 50 observations, then 0") {
  actor a{literal};
  for (int block = 0; block < 4; ++block)
    CHECK(a.run(work(20, literal), learning_load, 50).inline_runs == 50);
  CHECK(a.run(work(500, literal), learning_load, 50).inline_runs == 7);
  for (int block = 0; block < 3; ++block)
    CHECK(a.run(work(500, literal), learning_load, 50).inline_runs == 0);
}

TEST_CASE("workload shift of the corrected model: no slower to offload, and quick to return") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    actor a{knobs{}, seed};
    a.run(work(20, {}), learning_load, 200);
    CHECK(a.run(work(500, {}), learning_load, 50).inline_runs <= 7);
    CHECK(a.run(work(500, {}), learning_load, 150).inline_runs == 0);
    a.run(work(20, {}), learning_load, 50); // GR1's average needs 7 to 15 of them to come down
    CHECK(a.run(work(20, {}), learning_load, 150).inline_share() > 0.9);
  }
}

TEST_CASE("pressure escalation as published: pressures, and guardrail hits 0, 0, 99, 99, 99") {
  struct row {
    load now;
    double pressure;
    std::uint64_t hits;
  };
  const row published[] = {{{4, 4, 100}, 0.7, 0},
                           {{4, 12, 1000}, 2.2, 0},
                           {{4, 20, 4000}, 3.8, 99},
                           {{4, 40, 8000}, 7.6, 99},
                           {{4, 80, 20000}, 10.0, 99}};
  for (const auto& k : {literal, knobs{}}) {
    std::uint64_t sum = 0;
    for (const auto& [now, pressure, hits] : published) {
      INFO(to_string(k.model) << ", pressure " << pressure);
      CHECK(pressure_index(now, k) == Approx(pressure).margin(0.03));
      actor a{k};
      const auto t = a.run(work(150, k), now, 100);
      CHECK(a.decider().counters()[guardrail::gr2] == hits);
      sum += hits;
      if (hits > 0)
        CHECK(t.inline_runs == 1);
      else if (k.model == cost_model::seed_literal)
        CHECK(t.inline_runs >= 99);
    }
    CHECK(sum == 297);
  }
}

// All offloading in the published tables is the guardrails' doing.
TEST_CASE("the literal model offloads nothing by itself, whatever the pressure") {
  for (const double pressure : {0.7, 3.0})
    for (const double us : {5.0, 20.0, 100.0, 240.0}) {
      actor a{literal};
      INFO("pressure " << pressure << ", " << us << " us");
      CHECK(a.run(work(us, literal), load_of(pressure), 2000).inline_share() > 0.995);
    }
}

// With the formula corrected and one total cost per arm, as simulated by others before.
TEST_CASE("separate arms offload the expected shares") {
  knobs k;
  k.model = cost_model::separate_arms;
  const auto offload_share = [&](double pressure, double us) {
    double sum = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
      sum += 1 - actor{k, seed}.run({us, 12}, load_of(pressure), 2000).inline_share();
    return sum / 20;
  };
  CHECK(offload_share(0.7, 100) == Approx(0.19).margin(0.1));
  CHECK(offload_share(0.7, 200) > 0.97);
  CHECK(offload_share(3, 20) < 0.02);
  CHECK(offload_share(3, 27) == Approx(0.54).margin(0.15));
  CHECK(offload_share(3, 50) > 0.98);
}

TEST_CASE("the corrected model breaks even where fn * k * p equals the overhead") {
  for (const double pressure : {0.7, 1.5, 2.9})
    for (const double overhead_us : {5.0, 12.0}) {
      const double break_even_us = overhead_us / (knobs{}.k_starve * pressure);
      INFO("pressure " << pressure << ", overhead " << overhead_us);
      actor below;
      const world cheaper{.function_us = 0.75 * break_even_us, .overhead_us = overhead_us};
      CHECK(below.run(cheaper, load_of(pressure), 2000).inline_share() > 0.95);
      if (1.35 * break_even_us < 250) {
        actor above;
        const world dearer{.function_us = 1.35 * break_even_us, .overhead_us = overhead_us};
        CHECK(above.run(dearer, load_of(pressure), 2000).inline_share() < 0.05);
      }
    }
}
