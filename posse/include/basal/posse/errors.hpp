#pragma once

#include <stdexcept>

namespace basal::posse {

/// Thrown inside a computation, at a fork or poll(), after runtime::cancel();
/// and delivered to the caller of a computation that was discarded before it
/// began.
class cancelled : public std::runtime_error {
public:
  cancelled();
};

/// Thrown to the caller when a computation is handed to a runtime that has
/// stopped.
class runtime_stopped : public std::runtime_error {
public:
  runtime_stopped();
};

} // namespace basal::posse
