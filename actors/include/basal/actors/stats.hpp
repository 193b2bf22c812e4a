#pragma once

#include <basal/actors/actor_stats.hpp>
#include <basal/actors/backlogs.hpp>
#include <basal/actors/chooser_stats.hpp>
#include <basal/actors/inspect.hpp>
#include <basal/actors/overruns.hpp>
#include <basal/actors/solving_stats.hpp>
#include <basal/actors/warnings.hpp>

#include <caf/fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace basal::actors {

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, overrun_stats& x) {
  const detail::field_namer<Inspector> field;
  return f(caf::meta::type_name("overrun_stats"), field("name", x.name),
           field("overruns", x.overruns), field("quanta", x.quanta),
           field("longest_us", x.longest_us), field("quanta_on", x.quanta_on));
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, backlog_stats& x) {
  const detail::field_namer<Inspector> field;
  return f(caf::meta::type_name("backlog_stats"), field("name", x.name),
           field("messages", x.messages), field("most", x.most), field("seen", x.seen));
}

/// Counters of the background tasks of a level: `priority::level_stats` in whole numbers.
struct background_level_stats {
  std::string name; ///< of the level: `priority::named_levels`

  /// As the fields of `priority::level_stats` of the same names.
  /// @{
  std::uint64_t submitted = 0;
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t discarded = 0;
  std::uint64_t rejected = 0;
  std::uint64_t timed_out = 0;
  std::uint64_t queued_now = 0;
  std::uint64_t running_now = 0;
  /// @}
  std::uint64_t oldest_us = 0; ///< for how long the oldest one in the queue has been there

  friend bool operator==(const background_level_stats&, const background_level_stats&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, background_level_stats& x) {
  const detail::field_namer<Inspector> field;
  return f(caf::meta::type_name("background_level_stats"), field("name", x.name),
           field("submitted", x.submitted), field("done", x.done), field("failed", x.failed),
           field("cancelled", x.cancelled), field("discarded", x.discarded),
           field("rejected", x.rejected), field("timed_out", x.timed_out),
           field("queued_now", x.queued_now), field("running_now", x.running_now),
           field("oldest_us", x.oldest_us));
}

/// Counters of the background work on the compute executors: `priority::background_stats` in whole
/// numbers. All 0, and without levels, while nobody has asked for a background pool.
struct background_stats {
  /// As the fields of `priority::background_stats` of the same names.
  /// @{
  std::uint64_t submitted = 0;
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t discarded = 0;
  std::uint64_t rejected = 0;
  std::uint64_t timed_out = 0;
  std::uint64_t run_in_caller = 0;
  std::uint64_t waited_for_room = 0;
  std::uint64_t queued_now = 0;
  std::uint64_t running_now = 0;
  /// @}
  std::uint64_t typical_us = 0; ///< median of the latest tasks' runtimes

  /// The most urgent first; the fields above of the same names are their sums.
  std::vector<background_level_stats> levels;

  friend bool operator==(const background_stats&, const background_stats&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, background_stats& x) {
  const detail::field_namer<Inspector> field;
  return f(caf::meta::type_name("background_stats"), field("submitted", x.submitted),
           field("done", x.done), field("failed", x.failed), field("cancelled", x.cancelled),
           field("discarded", x.discarded), field("rejected", x.rejected),
           field("timed_out", x.timed_out), field("run_in_caller", x.run_in_caller),
           field("waited_for_room", x.waited_for_room), field("queued_now", x.queued_now),
           field("running_now", x.running_now), field("typical_us", x.typical_us),
           field("levels", x.levels));
}

/// Everything that an actor system on basal counts. A snapshot, taken while it runs.
struct system_stats {
  std::vector<executors::executor_stats> message_executors; ///< by index
  std::vector<executors::executor_stats> compute_executors; ///< by index
  std::vector<std::string> message_work; ///< by index: what it runs now; empty: nothing
  std::vector<std::string> compute_work; ///< likewise
  posse::posse_stats posse;              ///< computations and thefts
  std::vector<overrun_stats> overruns;   ///< by name
  std::vector<backlog_stats> backlogs;   ///< by name
  std::vector<chooser_stats> choosers;   ///< by (actor type, message type)
  background_stats background;           ///< work by priority
  solving_stats solver;                  ///< linear systems; empty where nobody has a solver
  std::vector<actor_stats> actor_types;  ///< by name; counted while watched, see watch_actors
  std::vector<actor_stats> busy_actors;  ///< the 64 busiest of them, the busiest first; likewise
  std::uint64_t actors_now = 0;          ///< that have not ended
  std::uint64_t timers_now = 0;          ///< timeouts and delayed messages that wait
  std::uint64_t heap_bytes = 0;          ///< of the collected heap, garbage included; 0 without one
  time_stats heap_pauses;                ///< for which its collections have stopped all threads
  std::uint64_t heap_longest_pause_ns = 0; ///< the longest of these
  std::uint64_t lost_records = 0;          ///< of streams of the flight recorder
  std::vector<warning> warnings;           ///< that hold now, oldest first

  friend bool operator==(const system_stats&, const system_stats&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, system_stats& x) {
  const detail::field_namer<Inspector> field;
  return f(
    caf::meta::type_name("system_stats"), field("message_executors", x.message_executors),
    field("compute_executors", x.compute_executors), field("message_work", x.message_work),
    field("compute_work", x.compute_work), field("posse", x.posse), field("overruns", x.overruns),
    field("backlogs", x.backlogs), field("choosers", x.choosers), field("background", x.background),
    field("solver", x.solver), field("actor_types", x.actor_types),
    field("busy_actors", x.busy_actors), field("actors_now", x.actors_now),
    field("timers_now", x.timers_now), field("heap_bytes", x.heap_bytes),
    field("heap_pauses", x.heap_pauses), field("heap_longest_pause_ns", x.heap_longest_pause_ns),
    field("lost_records", x.lost_records), field("warnings", x.warnings));
}

/// Any thread, from the start of the system to its end. Warnings are made of what has changed since
/// the call before, and take a second or more: who wants them asks a few times a second.
/// @throws std::logic_error if `system` does not run on basal.
system_stats stats_of(caf::actor_system& system);

} // namespace basal::actors
