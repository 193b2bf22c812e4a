#pragma once

#include <caf/behavior.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <cstdint>
#include <memory>

#include "catalog.hpp"
#include "context.hpp"

namespace codesearch {

struct searcher_state {
  static inline const char* name = "searcher";
  std::shared_ptr<const catalog> files; ///< of the index at `version`
  std::uint64_t version = 0;
};

/// Answers queries from what `index` holds at the moment, and posts the answers as events. The
/// search runs where the query arrived, on a message executor, which has time while the compute
/// executors are indexing; when they are idle they steal from it.
caf::behavior searcher_actor(caf::stateful_actor<searcher_state>* self, context_ptr run,
                             caf::actor index);

} // namespace codesearch
