#pragma once

#include <basal/actors/stats.hpp>

#include <caf/atom.hpp>
#include <caf/replies_to.hpp>
#include <caf/typed_actor.hpp>

namespace basal::actors {

/// Answers a `caf::get_atom` with the statistics of its actor system.
using stats_monitor = caf::typed_actor<caf::replies_to<caf::get_atom>::with<system_stats>>;

/// The behaviour of a stats_monitor: `auto monitor = system.spawn(basal::actors::monitor);`
/// The actor fails with its first request if its system does not run on basal.
stats_monitor::behavior_type monitor(stats_monitor::pointer self);

} // namespace basal::actors
