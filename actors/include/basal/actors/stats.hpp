#pragma once

#include <basal/actors/chooser_stats.hpp>
#include <basal/actors/inspect.hpp>
#include <basal/actors/overruns.hpp>

#include <caf/fwd.hpp>

#include <cstdint>
#include <vector>

namespace basal::actors {

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, overrun_stats& x) {
  const detail::field_namer<Inspector> field;
  return f(caf::meta::type_name("overrun_stats"), field("name", x.name),
           field("overruns", x.overruns), field("quanta", x.quanta),
           field("longest_us", x.longest_us));
}

/// Everything that an actor system on basal counts. A snapshot, taken while it runs.
struct system_stats {
  std::vector<executors::executor_stats> message_executors;
  std::vector<executors::executor_stats> compute_executors;
  posse::posse_stats posse;
  std::vector<overrun_stats> overruns; ///< by name
  std::vector<chooser_stats> choosers; ///< by (actor type, message type)
  std::uint64_t timers_now = 0;        ///< timeouts and delayed messages that wait
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, system_stats& x) {
  const detail::field_namer<Inspector> field;
  return f(caf::meta::type_name("system_stats"), field("message_executors", x.message_executors),
           field("compute_executors", x.compute_executors), field("posse", x.posse),
           field("overruns", x.overruns), field("choosers", x.choosers),
           field("timers_now", x.timers_now));
}

/// Any thread, from the start of the system to its end.
/// @throws std::logic_error if `system` does not run on basal.
system_stats stats_of(caf::actor_system& system);

} // namespace basal::actors
