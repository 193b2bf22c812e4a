// The figures over several programs, at 2 and at all CPUs: how fast basal is
// compared with the best of the peers, of each program at each number of CPUs.

#include "bench/posse/program.hpp"
#include "bench/support/statistics.hpp"

#include <algorithm>

namespace basal::bench {

std::vector<program_names>& all_programs() {
  static std::vector<program_names> programs;
  return programs;
}

namespace {

double versus_best_peer(const results& r, const program_names::on_cpus& p) {
  auto best = r.median_ns(p.peers.front());
  for (const auto& peer : p.peers)
    best = std::min(best, r.median_ns(peer));
  return best / r.median_ns(p.basal);
}

// Of all programs of a group, at each number of CPUs above one.
std::vector<double> all_versus_best_peer(const results& r, counted_in group) {
  std::vector<double> ratios;
  for (const auto& p : all_programs())
    if (p.group == group)
      for (const auto& at : p.parallel)
        ratios.push_back(versus_best_peer(r, at));
  if (ratios.empty())
    throw not_measured("there is one CPU only");
  return ratios;
}

struct group_name {
  counted_in group;
  const char* prefix;
};

constexpr group_name named_groups[] = {
  {counted_in::programs, ""},      {counted_in::loops, "loops_"},
  {counted_in::uneven, "uneven_"}, {counted_in::regions, "regions_"},
  {counted_in::burner, "burner_"},
};

// Evaluated after the last case; so the order in which suites declare does not
// matter.
const suite summary{[](plan& plan) {
  plan.figure("geomean_speedup_2_vs_serial", [](const results& r) {
    std::vector<double> speedups;
    for (const auto& p : all_programs())
      if (p.group == counted_in::programs)
        for (const auto& at : p.parallel)
          if (at.cpus == 2)
            speedups.push_back(r.median_ns(p.serial) / r.median_ns(at.basal));
    if (speedups.empty())
      throw not_measured("there is one CPU only");
    return geomean(speedups);
  });
  for (const auto& [group, prefix] : named_groups) {
    const std::string name{prefix};
    plan.figure(name + "geomean_vs_best_peer", [counted = group](const results& r) {
      return geomean(all_versus_best_peer(r, counted));
    });
    plan.figure(name + "worst_vs_best_peer", [counted = group](const results& r) {
      const auto all = all_versus_best_peer(r, counted);
      return *std::min_element(all.begin(), all.end());
    });
  }
}};

} // namespace
} // namespace basal::bench
