#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <basal/posse/fwd.hpp>
#include <basal/posse/theft.hpp>

namespace basal::posse {

/// Counts of one declared function's calls on one runtime. Forks, quanta and time are added when a
/// member ends.
struct function_stats {
  std::string name;            ///< as it was declared
  std::uint64_t calls = 0;     ///< from handlers, plain threads, offloads
  std::uint64_t offloaded = 0; ///< of these, sent to a compute executor
  std::uint64_t failed = 0;    ///< of these, ended by an exception
  std::uint64_t forks = 0;     ///< made in its computations
  std::uint64_t inlined = 0;   ///< of these, not stolen
  std::uint64_t thefts = 0;    ///< of these, stolen
  std::uint64_t merges = 0;    ///< of the stolen ones, ended
  std::uint64_t quanta = 0;    ///< quantum ends of its members
  std::uint64_t busy_ns = 0;   ///< time its members had executors, from their first fork on

  friend bool operator==(const function_stats&, const function_stats&) = default;
};

/// Counts of a runtime so far. A snapshot whose fields may be a few events apart; counts since the
/// start unless it says "now".
struct posse_stats {
  std::uint64_t computations = 0;     ///< calls that began a posse
  std::uint64_t computations_now = 0; ///< that have begun and not ended
  std::uint64_t cancelled = 0;        ///< ended by `cancelled`, also before they began
  std::uint64_t over_limit = 0;       ///< ended by `memory_limit_exceeded`
  std::uint64_t near_limit = 0;       ///< that have used four fifths of their memory limit
  std::uint64_t failed = 0;           ///< ended by any other exception
  std::uint64_t forks = 0;            ///< of members that have ended
  std::uint64_t inlined = 0;          ///< of these, not stolen
  std::uint64_t quanta = 0;           ///< quantum ends seen by members
  std::uint64_t yields = 0;           ///< members that let others have a turn
  std::uint64_t thefts = 0;           ///< continuations given to delegates
  std::uint64_t seamless_thefts = 0;  ///< of these, by an executor for itself
  std::uint64_t delegates_now = 0;    ///< of these, not merged yet
  std::uint64_t merges = 0;           ///< delegates that have ended
  std::uint64_t failed_merges = 0;    ///< of these, by an exception
  std::uint64_t taken_back = 0;       ///< of these, done by the victim: they had not begun
  std::uint64_t merge_waits = 0;      ///< victims suspended for delegates
  std::uint64_t victims_now = 0;      ///< of these, still suspended
  std::uint64_t suspended_ns = 0;     ///< time they were, in sum
  std::uint64_t asks = 0;             ///< idle executors that asked for work
  std::uint64_t theft_looks = 0;      ///< times a member considered a theft

  /// Outcomes of these: each is counted under one verdict.
  by_theft_verdict<std::uint64_t> verdicts;

  // Gauges of computations that were stolen from, or have a memory limit:
  std::uint64_t largest_cabal = 0;           ///< executors of one computation
  std::uint64_t most_bytes_per_executor = 0; ///< of one computation
  std::uint64_t deepest_stack_bytes = 0;     ///< of one member, at its looks at the clock

  std::vector<function_stats> functions; ///< declared and called so far

  friend bool operator==(const posse_stats&, const posse_stats&) = default;
};

} // namespace basal::posse
