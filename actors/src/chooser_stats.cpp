#include <basal/actors/chooser_stats.hpp>

#include <basal/actors/detail/chooser_host.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace basal::actors {

namespace {

using mab::event;

// Which counter of ours is which of theirs.
constexpr std::pair<event, std::uint64_t chooser_stats::*> counters[] = {
  {event::inline_decision, &chooser_stats::inline_decisions},
  {event::offload_decision, &chooser_stats::offload_decisions},
  {event::gr0_activation, &chooser_stats::gr0_activations},
  {event::gr1_activation, &chooser_stats::gr1_activations},
  {event::gr2_activation, &chooser_stats::gr2_activations},
  {event::gr3_activation, &chooser_stats::gr3_activations},
  {event::hint_offload, &chooser_stats::hint_offloads},
  {event::cold_start, &chooser_stats::cold_starts},
  {event::prior_adoption, &chooser_stats::prior_adoptions},
  {event::finished, &chooser_stats::finished},
  {event::abandoned, &chooser_stats::abandoned_decisions},
  {event::finished_twice, &chooser_stats::finished_twice},
  {event::starvation, &chooser_stats::starvation_events},
  {event::clamped_cost, &chooser_stats::clamped_costs},
  {event::missing_function_time, &chooser_stats::missing_function_times},
  {event::shift, &chooser_stats::shifts},
};
static_assert(std::size(counters) == mab::event_count);

cost_belief belief_of(const mab::posterior& p) {
  if (p.n() <= 0)
    return {};
  const auto rounded = [](double x) { return static_cast<std::uint64_t>(std::llround(x)); };
  return {.typical_ns = rounded(1e3 * std::exp(p.mean())),
          .spread_percent = rounded(100 * std::exp(std::sqrt(p.variance()))),
          .observations = rounded(p.n())};
}

std::string text(const cost_belief& x) {
  if (x.observations == 0)
    return "unknown";
  return std::to_string(x.typical_ns) + " ns typical, spread " + std::to_string(x.spread_percent)
         + " %, from " + std::to_string(x.observations) + " observations";
}

} // namespace

std::vector<chooser_stats> chooser_stats_of(caf::actor_system& system) {
  std::vector<chooser_stats> result;
  for (const auto& family : detail::chooser_host::of(system)->snapshot()) {
    auto& x = result.emplace_back();
    x.name = family.name;
    for (const auto& [theirs, ours] : counters)
      x.*ours = family.totals[theirs];
    x.pressure_percent = static_cast<std::uint64_t>(std::llround(100 * family.pressure));
    x.function_time = belief_of(family.function_time);
    x.offload_overhead = belief_of(family.overhead);
  }
  return result;
}

chooser_stats total(const std::vector<chooser_stats>& all) {
  chooser_stats sum;
  sum.name = "total";
  for (const auto& x : all) {
    for (const auto& [theirs, ours] : counters)
      sum.*ours += x.*ours;
    sum.pressure_percent = std::max(sum.pressure_percent, x.pressure_percent);
  }
  return sum;
}

std::string explain(const chooser_stats& x) {
  const auto times = [](std::uint64_t n, const char* what) {
    return n == 0 ? std::string{} : ", " + std::to_string(n) + " " + what;
  };
  return x.name + ": " + std::to_string(x.inline_decisions) + " inline, "
         + std::to_string(x.offload_decisions) + " offloads"
         + times(x.gr0_activations, "by GR0 (only one message executor)")
         + times(x.gr1_activations, "by GR1 (too long to block an executor)")
         + times(x.gr2_activations, "by GR2 (others wait)")
         + times(x.gr3_activations, "by GR3 (inline runs took too long recently)")
         + times(x.hint_offloads, "by the hint")
         + times(x.starvation_events, "inline runs too long") + "; function time "
         + text(x.function_time) + "; offload overhead " + text(x.offload_overhead) + "; pressure "
         + std::to_string(x.pressure_percent) + " %";
}

} // namespace basal::actors
