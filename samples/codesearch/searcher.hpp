#pragma once

#include <caf/actor.hpp>
#include <caf/behavior.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <cstdint>
#include <memory>
#include <string>

#include "catalog.hpp"
#include "context.hpp"

namespace codesearch {

struct searcher_state {
  static inline const char* name = "searcher";
  std::shared_ptr<const catalog> files; ///< of the index at `version`
  std::uint64_t version = 0;
};

/// Answers queries from what `index` holds at the moment. A search is the most urgent work in the
/// background of the compute executors; while they are busy indexing it runs where the query
/// arrived, on a message executor, which has time then.
caf::behavior searcher_actor(caf::stateful_actor<searcher_state>* self, context_ptr run,
                             caf::actor index);

/// Asks the searcher, waits for a few seconds at most, and returns the lines that print_answer
/// prints, or a sentence why there are none. On any thread that is not an executor.
std::string ask(const caf::actor& searcher, const std::string& text, std::size_t top);

} // namespace codesearch
