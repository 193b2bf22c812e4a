#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace basal::posse {

/// Why a computation was cancelled.
enum class cancel_reason : std::uint8_t {
  none,           ///< it was not
  runtime_stops,  ///< runtime::cancel(), or discarded before it began
  stop_requested, ///< call_options::stop
  deadline,       ///< call_options::deadline
  owner_killed,   ///< its actor is to end; see interrupt_probe
  not_needed,     ///< the branch beside it failed; nobody sees this one
};

/// Thrown inside a computation, at a fork or poll(), once it was cancelled, and
/// then out of it; and delivered to the caller of a computation that was
/// discarded before it began. Safepoints throw it again to who swallows it.
class cancelled : public std::runtime_error {
public:
  /// Its what() is a sentence that says why.
  explicit cancelled(cancel_reason why = cancel_reason::runtime_stops);

  /// Why the computation ended.
  cancel_reason reason() const noexcept {
    return reason_;
  }

private:
  cancel_reason reason_;
};

/// Thrown inside a computation that would use more memory than its limit, or
/// more of its stack than there is: by the allocation, fork or poll() that
/// would. Ends that computation alone.
class memory_limit_exceeded : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Thrown to the caller when a computation is handed to a runtime that has
/// stopped.
class runtime_stopped : public std::runtime_error {
public:
  runtime_stopped();
};

} // namespace basal::posse
