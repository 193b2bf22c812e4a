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

/// Answers queries from what `index` holds at the moment, and posts the answers as events. A search
/// is the most urgent work in the background of the compute executors; while they are busy indexing
/// it runs where the query arrived, on a message executor, which has time then.
caf::behavior searcher_actor(caf::stateful_actor<searcher_state>* self, context_ptr run,
                             caf::actor index);

} // namespace codesearch
