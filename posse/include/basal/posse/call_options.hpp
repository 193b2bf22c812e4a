#pragma once

#include <chrono>
#include <cstddef>
#include <stop_token>

namespace basal::posse {

/// How a caller that cannot raise a stop token is asked whether its computation
/// should end: the actors module looks into the mailbox for a kill. Called at
/// quantum ends, on whichever executor a member runs, by one at a time, and only
/// while the call that it was given to lasts.
struct interrupt_probe {
  /// Whether the computation should end with `cancelled`. Null: is not asked.
  bool (*asks_to_end)(void* context) noexcept = nullptr;
  void* context = nullptr; ///< its argument
};

/// Limits of one call of a pure function. The defaults are those of the runtime.
struct call_options {
  /// The computation ends with `cancelled` soon after a stop was requested, and at
  /// once if it has not begun: where it waits for a compute executor.
  std::stop_token stop = {};

  /// The computation ends with `cancelled` soon after this, begun or not.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();

  /// Bytes that it may use on one executor; 0: runtime_config::memory_limit.
  std::size_t memory_limit = 0;

  /// Executors that may work on it, the first included; 0: the runtime's.
  std::size_t cabal_limit = 0;

  /// Asked besides the stop token and the deadline.
  interrupt_probe probe = {};
};

} // namespace basal::posse
