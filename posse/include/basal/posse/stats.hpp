#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <basal/posse/fwd.hpp>

namespace basal::posse {

/// What became of one declared function's calls, in all runtimes of the
/// process.
struct function_stats {
  std::string name;
  std::uint64_t calls = 0;     ///< from handlers, plain threads, offloads
  std::uint64_t offloaded = 0; ///< of these, sent to a compute executor
  std::uint64_t failed = 0;    ///< of these, ended by an exception
  std::uint64_t thefts = 0;    ///< continuations stolen from its posses
};

/// What a runtime did so far. A snapshot whose fields may be a few events
/// apart; counts since the start unless it says "now".
struct posse_stats {
  std::uint64_t computations = 0; ///< calls that began a posse
  std::uint64_t computations_now = 0;
  std::uint64_t quanta = 0;        ///< quantum ends seen by members
  std::uint64_t yields = 0;        ///< members that let others have a turn
  std::uint64_t thefts = 0;        ///< continuations given to delegates
  std::uint64_t delegates_now = 0; ///< of these, not merged yet
  std::uint64_t merges = 0;        ///< delegates that have ended
  std::uint64_t failed_merges = 0; ///< of these, by an exception
  std::uint64_t merge_waits = 0;   ///< victims suspended for a delegate
  std::uint64_t asks = 0;          ///< idle executors that asked for work
  // Why nothing was stolen, counted at each look for a theft:
  std::uint64_t rejects_nobody_idle = 0;
  std::uint64_t rejects_actors_first = 0;
  std::uint64_t rejects_once_a_quantum = 0;
  std::uint64_t rejects_too_young = 0; ///< hysteresis

  std::vector<function_stats> functions; ///< declared and called so far
};

} // namespace basal::posse
