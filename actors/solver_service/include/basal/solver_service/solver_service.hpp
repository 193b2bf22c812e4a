#pragma once

#include <basal/solver_service/messages.hpp>

#include <caf/atom.hpp>
#include <caf/replies_to.hpp>
#include <caf/typed_actor.hpp>

#include <cstdint>

namespace basal::actors {

/// An actor that gets a service's events. It answers each message when it has dealt with it (a
/// handler that returns does so by itself), and only then gets the next one; so its mailbox never
/// holds more than one, and events that it is too slow for are counted in `lost`.
using solver_subscriber = caf::typed_actor<caf::reacts_to<events_message>>;

/// Solves linear systems for other actors, on the system's compute executors.
///
/// - solve_message: a solve_reply, or a caf::error of the category solver::errc_category.
/// - batch_message: a batch_reply, in which each request has a reply or an error of its own.
/// - subscribe_atom, subscriber, capacity: events from now on, until the subscriber ends;
///   up to `capacity` of them wait for a slow one, 1 to max_waiting_events. An empty handle is
///   an error.
/// - get_atom: what the service has done.
///
/// The service's handlers do not wait for solves; it takes 10^5 requests at once, and keeps
/// those that wait for a permit as memory only. When it ends, requests that are not answered
/// fail with solver::errc::stopped.
using solver_service = caf::typed_actor<
  caf::replies_to<solve_message>::with<solve_reply>,
  caf::replies_to<batch_message>::with<batch_reply>,
  caf::replies_to<caf::subscribe_atom, solver_subscriber, std::uint64_t>::with<void>,
  caf::replies_to<caf::get_atom>::with<solver::solver_stats>>;

inline constexpr std::uint64_t max_waiting_events = 1u << 20;

/// Starts a service. The system's configuration must have been given to add_solver_messages().
/// @throws solver::error for limits out of their range, std::logic_error if `system` does not
///         run on basal, or its configuration does not know the messages.
solver_service spawn_solver_service(caf::actor_system& system, solver::solver_limits limits = {});

} // namespace basal::actors
