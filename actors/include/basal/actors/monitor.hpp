#pragma once

#include <basal/actors/stats.hpp>

#include <caf/atom.hpp>
#include <caf/replies_to.hpp>
#include <caf/timespan.hpp>
#include <caf/typed_actor.hpp>

namespace basal::actors {

/// Takes the statistics that a stats_monitor sends, and answers when it is done with them.
using stats_subscriber = caf::typed_actor<caf::replies_to<system_stats>::with<void>>;

/// Answers a `caf::get_atom` with the statistics of its actor system. A subscriber gets them at
/// once and from then on at an interval, counted from its answer: it has one unanswered message at
/// most, and is forgotten when it ends or answers with an error. A second subscription replaces the
/// first. Without subscribers the monitor has no timer.
///
/// The shortest interval is 1 ms; a shorter one is answered with `caf::sec::invalid_argument`.
using stats_monitor = caf::typed_actor<
  caf::replies_to<caf::get_atom>::with<system_stats>,
  caf::replies_to<caf::subscribe_atom, stats_subscriber, caf::timespan>::with<void>,
  caf::replies_to<caf::unsubscribe_atom, stats_subscriber>::with<void>>;

/// The behaviour of a stats_monitor: `auto monitor = system.spawn(basal::actors::monitor);`
/// The actor fails with its first request if its system does not run on basal.
stats_monitor::behavior_type monitor(stats_monitor::pointer self);

} // namespace basal::actors
