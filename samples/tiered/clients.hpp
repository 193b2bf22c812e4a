#pragma once

#include <caf/actor.hpp>
#include <caf/behavior.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "messages.hpp"

namespace tiered {

/// How a client behaves.
struct client_plan {
  question asks;
  std::size_t questions = 0;         ///< 0: until it is told to finish
  std::chrono::microseconds pause{}; ///< between an answer and the next question
  const library* watched = nullptr;  ///< for sample::while_compiling
};

struct client_state {
  static inline const char* name = "client";
  client_report seen;
  bool finishing = false;
};

/// Asks `evaluator` the same question over and over, and reports to `observer` what it saw.
/// @param progress counts answers
caf::behavior client_actor(caf::stateful_actor<client_state>* self, client_plan plan,
                           caf::actor evaluator, caf::actor observer,
                           std::shared_ptr<std::atomic<std::uint64_t>> progress);

} // namespace tiered
