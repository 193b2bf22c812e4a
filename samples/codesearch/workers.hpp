#pragma once

#include <caf/behavior.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <optional>

#include "context.hpp"
#include "walker.hpp"

namespace codesearch {

struct walker_state {
  static inline const char* name = "walker";
  std::optional<tree_walker> walk;
};

/// Lists the files of the tree, a few hundred a turn, and sends them to `index`. Ends with the
/// walk.
caf::behavior walker_actor(caf::stateful_actor<walker_state>* self, context_ptr run,
                           caf::actor index);

/// Reads files into the buffers that `index` sends it. A turn blocks its executor for as long as
/// reading one buffer takes.
caf::behavior reader_actor(caf::event_based_actor* self, context_ptr run, caf::actor index);

/// Does the heavy work, one call at a time, on the compute executors, so that the message executors
/// stay free for queries: builds segments from texts (offloaded), merges segments and ranks files
/// (in the background).
caf::behavior worker_actor(caf::event_based_actor* self, context_ptr run, caf::actor index);

} // namespace codesearch
