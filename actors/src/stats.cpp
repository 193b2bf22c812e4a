#include <basal/actors/stats.hpp>

#include "actor_watch.hpp"
#include "thread_facts.hpp"
#include "times_of_buckets.hpp"
#include "warning_watch.hpp"

#include <basal/actors/detail/scheduler.hpp>
#include <basal/actors/detail/solver_sources.hpp>
#include <basal/executors/detail/collector.hpp>
#include <basal/executors/recorder.hpp>
#include <basal/priority/background_pool.hpp>

#include <caf/actor_registry.hpp>
#include <caf/actor_system.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace basal::actors {

namespace {

std::vector<executors::executor_stats> stats_of(const executors::executor_pool& pool) {
  std::vector<executors::executor_stats> result;
  for (std::size_t i = 0; i < pool.size(); ++i)
    result.push_back(pool.at(i).stats());
  return result;
}

std::vector<background_level_stats> levels_of(const priority::background_stats& x) {
  std::vector<background_level_stats> result;
  for (std::size_t i = 0; i < x.levels.size(); ++i) {
    const auto& level = x.levels[i];
    const auto oldest = std::chrono::duration_cast<std::chrono::microseconds>(level.oldest);
    result.push_back({
      .name = priority::named_levels[i].name,
      .submitted = level.submitted,
      .done = level.done,
      .failed = level.failed,
      .cancelled = level.cancelled,
      .discarded = level.discarded,
      .rejected = level.rejected,
      .timed_out = level.timed_out,
      .queued_now = level.queued_now,
      .running_now = level.running_now,
      .oldest_us = static_cast<std::uint64_t>(oldest.count()),
    });
  }
  return result;
}

std::vector<std::string> works_of(const executors::executor_pool& pool) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < pool.size(); ++i)
    result.push_back(work_of(pool.at(i)));
  return result;
}

background_stats background_of(const executors::executor_pool& pool) {
  const auto* background = dynamic_cast<const priority::background_pool*>(pool.background());
  if (background == nullptr)
    return {};
  const auto x = background->stats();
  return {
    .submitted = x.submitted,
    .done = x.done,
    .failed = x.failed,
    .cancelled = x.cancelled,
    .discarded = x.discarded,
    .rejected = x.rejected,
    .timed_out = x.timed_out,
    .run_in_caller = x.run_in_caller,
    .waited_for_room = x.waited_for_room,
    .queued_now = x.queued_now,
    .running_now = x.running_now,
    .typical_us = static_cast<std::uint64_t>(x.runtimes.global_median_s * 1e6),
    .levels = levels_of(x),
  };
}

/// Of the collected heap, if there is one.
template <class What>
What of_heap(What (*executors::collector_hooks::*what)() noexcept) noexcept {
  const auto* heap = executors::collector.load(std::memory_order_acquire);
  return heap != nullptr ? (heap->*what)() : What{};
}

} // namespace

system_stats stats_of(caf::actor_system& system) {
  auto& found = detail::system_core::of(system, "there are no statistics");
  auto* threaded = scheduler::of(system);
  const auto pauses = of_heap(&executors::collector_hooks::pauses);
  system_stats result{
    .message_executors = stats_of(found.messages()),
    .compute_executors = stats_of(found.compute().compute()),
    .message_work = works_of(found.messages()),
    .compute_work = works_of(found.compute().compute()),
    .posse = found.compute().stats(),
    .overruns = found.overruns().snapshot(),
    .backlogs = found.backlogs().snapshot(),
    .choosers = chooser_stats_of(system),
    .background = background_of(found.compute().compute()),
    .solver = found.solvers()->snapshot(),
    .actor_types = threaded != nullptr ? threaded->watch().types() : std::vector<actor_stats>{},
    .busy_actors = threaded != nullptr ? threaded->watch().actors() : std::vector<actor_stats>{},
    .actors_now = system.registry().running(),
    .timers_now = threaded != nullptr ? threaded->clock().pending() : 0,
    .heap_bytes = of_heap(&executors::collector_hooks::used_bytes),
    .heap_pauses = times_of_buckets(pauses.buckets, pauses.sum_ns, true),
    .heap_longest_pause_ns = pauses.longest_ns,
    .lost_records = executors::recorder::lost(),
    .warnings = {},
  };
  result.warnings = found.warnings().update(system, result);
  return result;
}

} // namespace basal::actors
