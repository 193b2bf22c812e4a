#pragma once

#include <caf/actor.hpp>
#include <caf/allowed_unsafe_message_type.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "library.hpp"
#include "machine.hpp"
#include "request.hpp"

namespace tiered {

// Messages between the actors, all in one process.

/// Client to evaluator, which replies with an answer.
struct question {
  script* of = nullptr; ///< lives as long as the actors
  request asked;
};

struct answer {
  outcome result;
  std::size_t tier = 0;
  std::chrono::nanoseconds running{}; ///< in the evaluator
};

/// To oneself: ask the next question.
struct ask {};

/// A client's measurements of one question.
struct sample {
  std::size_t tier = 0;
  std::chrono::nanoseconds running{};
  std::chrono::nanoseconds waited{}; ///< from question to answer
  bool while_compiling = false;      ///< a compilation ran meanwhile
};

/// Client to its observer, at the end of its life.
struct client_report {
  script* of = nullptr;
  request asked;
  std::vector<sample> samples;
  outcome last;
};

/// To a prober: report and end.
struct finish {};

} // namespace tiered

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tiered::question)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tiered::answer)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tiered::ask)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tiered::client_report)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tiered::finish)
