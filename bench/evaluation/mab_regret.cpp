// MB8: not in the source. Costs of the choices compared with the best static policy, and how the
// trap doors are left.

#include "bench/evaluation/report.hpp"
#include "tests/mab/simulation.hpp"

#include <algorithm>

namespace basal::evaluation {

using namespace mab;

using namespace simulation;

namespace {

constexpr double function_times_us[] = {1, 5, 20, 50, 100, 200, 500, 2000, 10'000};
constexpr double pressures[] = {0.35, 0.7, 1.5, 2.9, 3.8, 10};

struct summary {
  double sum = 0;
  double worst = 0;
  int cells = 0;
  int above_5_percent = 0;

  void add(double regret) {
    sum += regret;
    worst = std::max(worst, regret);
    above_5_percent += regret > 0.05;
    ++cells;
  }

  std::string text() const {
    return percent(sum / cells) + ", worst " + percent(worst) + ", "
           + std::to_string(above_5_percent) + " of " + std::to_string(cells) + " above 5 %";
  }
};

summary steady(const knobs& k) {
  summary result;
  for (const double us : function_times_us)
    for (const double pressure : pressures) {
      const world w{us, 12, 0.3, 0.3};
      actor a{k, 3};
      a.run(w, load_of(pressure), 200);
      result.add(a.run(w, load_of(pressure), 1000).regret());
    }
  return result;
}

summary changing(const knobs& k, const options& o, bool overhead_changes) {
  summary result;
  const std::uint64_t walks = o.quick ? 30 : 200;
  for (std::uint64_t seed = 1; seed <= walks; ++seed)
    for (const double x : wander(k, seed, overhead_changes, 0.3))
      result.add(x);
  return result;
}

void policies(report& r, const options& o) {
  std::vector<std::vector<std::string>> rows
    = {{"policy (model)", "steady: mean regret", "changing: mean regret",
        "changing, the overhead, too: mean regret"}};
  const auto add = [&](const std::string& name, const knobs& k) {
    const auto calm = steady(k);
    const auto moved = changing(k, o, false);
    rows.push_back({name, calm.text(), moved.text(), changing(k, o, true).text()});
    return std::max(calm.worst, moved.worst);
  };
  const auto with = [](policy p, cost_model m = cost_model::corrected) {
    knobs k = m == cost_model::seed_literal ? knobs::seed_literal() : knobs{};
    k.chosen_by = p;
    k.model = m;
    return k;
  };
  const double ours = add("thompson (corrected)", with(policy::thompson));
  add("thompson (separate_arms)", with(policy::thompson, cost_model::separate_arms));
  for (const auto m : {cost_model::corrected, cost_model::separate_arms}) {
    auto k = with(policy::thompson, m);
    k.restart_on_shift = false;
    add(std::string{"thompson ("} + to_string(m) + ", restart_on_shift off)", k);
  }
  add("thompson (seed_literal)", with(policy::thompson, cost_model::seed_literal));
  add("ucb1 (separate_arms)", with(policy::ucb1, cost_model::separate_arms));
  add("static_threshold, 100 us", with(policy::static_threshold));
  add("always_inline", with(policy::always_inline));
  add("always_offload", with(policy::always_offload));
  r.table(rows);
  r.paragraph(
    "Regret: cost over that of the better of always-inline and always-offload in the same world, "
    "where an inline run costs fn * (1 + 0.15 * pressure) and an offload fn + overhead, all "
    "varying log-normally by 30 %; counted from the 201st observation of a world on. Steady: 1 us "
    "to 10 ms, pressure 0.35 to 10, overhead 12 us. Changing: function time (1 to 400 us) and "
    "pressure change at random every 400 to 3,400 observations; in the last column the overhead "
    "does, too (4, 12 or 30 us), of which a handler that runs inline learns only by trying. "
    "Separate arms do as well until an arm that is not chosen goes stale.");
  r.judge({"MB8", "worst regret of the default, steady and changing", bench::standing::exact,
           "none", ours, bench::at_most(0.05)});
}

void recovery(report& r) {
  actor a;
  a.run({.function_us = 20}, load_of(0.7), 200);
  tally t;
  while (a.decider().strikes() < 1)
    a.step({.function_us = 1500}, load_of(0.7), t);
  tally after;
  int until_inline = 1;
  while (a.step({.function_us = 20}, load_of(0.7), after) == arm::offload)
    ++until_inline;
  const auto next = a.run({.function_us = 20}, load_of(0.7), 4899);
  r.table({{"after one 1.5 ms run of a 20 us handler", "ours", "source's program, simulated"},
           {"inline again at observation", std::to_string(until_inline), "never"},
           {"inline of the next 4,899", number(static_cast<double>(next.inline_runs)), "0"}});
  r.paragraph("GR3 suppresses inline runs while strikes last. Here every outcome lets them fade; "
              "in the source only inline ones do, which GR3 forbids.");
  r.judge({"MB8", "observations until inline after one strike", bench::standing::exact, "never",
           static_cast<double>(until_inline), bench::at_most(3)});
}

void storm(report& r) {
  constexpr std::uint64_t actors = 10'000;
  const auto inlined = [](bool shared) {
    auto together = std::make_shared<family>("storm");
    std::size_t count = 0;
    for (std::uint64_t i = 0; i < actors; ++i) {
      actor a{shared ? together : std::make_shared<family>("alone"), i};
      count += a.run({.function_us = 3000}, load_of(0.7), 1).inline_runs;
    }
    return count;
  };
  const auto with_prior = inlined(true);
  r.table({{"10,000 new actors, one 3 ms message each", "inlined"},
           {"shared prior per (actor type, message type)", std::to_string(with_prior)},
           {"each for itself, as in the source", number(static_cast<double>(inlined(false)))}});
  r.paragraph("One after the other, as on one executor; with E executors at most E messages start "
              "before the first outcome is known.");
  r.judge({"MB8", "cold 3 ms handlers of 10,000 that ran inline", bench::standing::exact, "10,000",
           static_cast<double>(with_prior), bench::equals(1)});
}

} // namespace

void regret(report& r, const options& o) {
  r.heading("MB8. Beyond the source: regret, recovery, cold starts");
  policies(r, o);
  recovery(r);
  storm(r);
}

} // namespace basal::evaluation
