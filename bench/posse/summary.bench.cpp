// The figures over all programs.

#include "bench/posse/program.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace basal::bench {

std::vector<program_names>& all_programs() {
  static std::vector<program_names> programs;
  return programs;
}

namespace {

double speedup(const results& r, const program_names& p) {
  return r.median_ns(p.serial) / r.median_ns(p.basal_2);
}

double versus_best_peer(const results& r, const program_names& p) {
  auto best = r.median_ns(p.peers_2.front());
  for (const auto& peer : p.peers_2)
    best = std::min(best, r.median_ns(peer));
  return best / r.median_ns(p.basal_2);
}

template <class Ratio>
double geomean(const results& r, Ratio ratio) {
  double logs = 0;
  for (const auto& p : all_programs())
    logs += std::log(ratio(r, p));
  return std::exp(logs / static_cast<double>(all_programs().size()));
}

// Evaluated after the last case; so the order in which suites declare does not
// matter.
const suite summary{[](plan& plan) {
  plan.figure("geomean_speedup_2_vs_serial", [](const results& r) { return geomean(r, speedup); });
  plan.figure("geomean_vs_best_peer",
              [](const results& r) { return geomean(r, versus_best_peer); });
  plan.figure("worst_vs_best_peer", [](const results& r) {
    double worst = versus_best_peer(r, all_programs().front());
    for (const auto& p : all_programs())
      worst = std::min(worst, versus_best_peer(r, p));
    return worst;
  });
}};

} // namespace
} // namespace basal::bench
