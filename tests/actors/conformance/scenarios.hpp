#pragma once

#include "transcript.hpp"

#include <caf/fwd.hpp>

namespace conformance {

/// Each scenario spawns its actors, waits until all of them are done and leaves what they saw in
/// the transcript.
void behaviours(caf::actor_system& system, transcript& out);
void typed(caf::actor_system& system, transcript& out);
void requests(caf::actor_system& system, transcript& out);
void lifecycle(caf::actor_system& system, transcript& out);
void timing(caf::actor_system& system, transcript& out);
void threads(caf::actor_system& system, transcript& out);
void channels(caf::actor_system& system, transcript& out);
void crowds(caf::actor_system& system, transcript& out);
void printing(caf::actor_system& system, transcript& out);
void streams(caf::actor_system& system, transcript& out);

/// `count` handlers block their threads at once, until other actors have answered. Their
/// observations do not depend on `count`.
void blocked_handlers(caf::actor_system& system, transcript& out, int count);

} // namespace conformance
