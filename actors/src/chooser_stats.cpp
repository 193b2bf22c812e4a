#include <basal/actors/chooser_stats.hpp>

#include <basal/actors/detail/chooser_host.hpp>

#include <algorithm>
#include <cmath>

namespace basal::actors {

namespace {

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
    x.counts = family.totals;
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
    sum.counts += x.counts;
    sum.pressure_percent = std::max(sum.pressure_percent, x.pressure_percent);
  }
  return sum;
}

std::string explain(const chooser_stats& x) {
  using mab::event;
  const auto times = [](std::uint64_t n, const std::string& what) {
    return n == 0 ? std::string{} : ", " + std::to_string(n) + " " + what;
  };
  std::string guarded;
  for (const auto& info : mab::guardrail_table)
    guarded
      += times(x.counts[info.which], std::string{"by "} + info.name + " (" + info.meaning + ")");
  return x.name + ": " + std::to_string(x.counts[event::inline_decision]) + " inline, "
         + std::to_string(x.counts[event::offload_decision]) + " offloads" + guarded
         + times(x.counts[event::hint_offload], "by the hint")
         + times(x.counts[event::starvation], "inline runs too long") + "; function time "
         + text(x.function_time) + "; offload overhead " + text(x.offload_overhead) + "; pressure "
         + std::to_string(x.pressure_percent) + " %";
}

} // namespace basal::actors
