#include <basal/solver_service/show_solver.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace basal::actors {

namespace {

static_assert(time_limits == solver::method_stats::limits, "both are 1 us * 4^k");

/// Nothing for a method that has solved nothing. Quantiles are computed where solvers are added up.
void add_method(solving_stats& to, const solver::method_stats& from) {
  time_stats times{.sum_ns = from.latency_ns, .within = {}};
  for (std::size_t k = 0; k < from.took.size(); ++k) {
    times.count += from.took[k];
    if (k < time_limits)
      times.within.push_back(times.count);
  }
  if (times.count == 0)
    return;
  std::vector<solve_count> ended;
  for (std::size_t i = 0; i < solver::state_count; ++i)
    if (const auto state = static_cast<solver::state>(i); state != solver::state::running)
      ended.push_back({std::string{to_string(state)}, from.ended[i]});
  to.methods.push_back({std::string{to_string(from.method)}, std::move(ended), std::move(times)});
}

solving_stats read(const solver::batch_solver& solver) {
  const auto x = solver.stats();
  solving_stats result{.solvers = 1,
                       .permits = solver.limits().concurrent_solves,
                       .running = x.running,
                       .waiting = x.waiting,
                       .methods = {},
                       .failures = {}};
  for (const auto& method : solver.stats_by_method())
    add_method(result, method);
  const auto known = x.rejected + x.timed_out + x.cancelled;
  result.failures = {{"rejected", x.rejected},
                     {"timed_out", x.timed_out},
                     {"cancelled", x.cancelled},
                     {"failed", x.failed - std::min(known, x.failed)}};
  return result;
}

} // namespace

solver_source show_solver(caf::actor_system& system, const solver::batch_solver& solver) {
  return {system, [&solver] { return read(solver); }};
}

} // namespace basal::actors
