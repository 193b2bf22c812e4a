#pragma once

#include <caf/behavior.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <memory>

#include "machine.hpp"

namespace tiered {

struct evaluator_state {
  static inline const char* name = "evaluator";
  std::unique_ptr<machine> runs_on;
};

/// Answers questions, one at a time, in the best tier there is at that moment. It computes in the
/// handler: long computations are time-sliced at their calls, so that the executor's other actors
/// have their turn, and no compilation ever runs here. Faults of programs are answers, too.
caf::behavior evaluator_actor(caf::stateful_actor<evaluator_state>* self, limits bounds);

} // namespace tiered
