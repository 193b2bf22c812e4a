#include <basal/actors/stats.hpp>

#include <basal/actors/scheduler.hpp>

namespace basal::actors {

namespace {

std::vector<executors::executor_stats> stats_of(const executors::executor_pool& pool) {
  std::vector<executors::executor_stats> result;
  for (std::size_t i = 0; i < pool.size(); ++i)
    result.push_back(pool.at(i).stats());
  return result;
}

} // namespace

system_stats stats_of(caf::actor_system& system) {
  auto& found = detail::system_core::of(system, "there are no statistics");
  auto* threaded = scheduler::of(system);
  return {
    .message_executors = stats_of(found.messages()),
    .compute_executors = stats_of(found.compute().compute()),
    .posse = found.compute().stats(),
    .overruns = found.overruns().snapshot(),
    .choosers = chooser_stats_of(system),
    .timers_now = threaded != nullptr ? threaded->clock().pending() : 0,
  };
}

} // namespace basal::actors
