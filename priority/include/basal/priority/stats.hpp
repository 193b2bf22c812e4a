#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <basal/priority/level.hpp>

namespace basal::priority {

/// Counts of a runtime_tracker since the start.
struct runtime_stats {
  std::uint64_t recorded = 0;   ///< runtimes
  std::uint64_t clamped = 0;    ///< of these, outside of what can be: see runtime_tracker
  std::uint64_t evicted = 0;    ///< types forgotten to make room
  std::size_t types = 0;        ///< remembered now
  double global_median_s = 0.0; ///< of the latest runtimes of all types, in seconds
};

/// Counts of the tasks of one of the `named_levels`, as those of background_stats.
struct level_stats {
  std::uint64_t submitted = 0; ///< accepted, by whatever way
  std::uint64_t done = 0;      ///< returned
  std::uint64_t failed = 0;    ///< threw
  std::uint64_t cancelled = 0; ///< by their handles
  std::uint64_t discarded = 0; ///< by shutdown
  std::uint64_t rejected = 0;  ///< refused: queue full
  std::uint64_t timed_out = 0; ///< refused: queue full for too long
  std::size_t queued_now = 0;  ///< in the queue
  std::size_t running_now = 0; ///< begun and not ended

  /// For how long the oldest one in the queue has been there; 0 if none is. Too long by at
  /// most an eighth of the longest wait of late, or 0.25 s.
  std::chrono::nanoseconds oldest{};
};

/// Counts of a background_pool so far; a snapshot whose fields may be a few events apart. Counts
/// since the start unless they say "now".
struct background_stats {
  std::uint64_t submitted = 0;       ///< accepted, by whatever way
  std::uint64_t done = 0;            ///< returned
  std::uint64_t failed = 0;          ///< threw
  std::uint64_t cancelled = 0;       ///< by their handles
  std::uint64_t discarded = 0;       ///< by shutdown
  std::uint64_t plain = 0;           ///< of those submitted, past the queue; see spawn()
  std::uint64_t waited_for_room = 0; ///< submitters that found the queue full and waited
  std::uint64_t rejected = 0;        ///< refused: queue full
  std::uint64_t timed_out = 0;       ///< refused: queue full for too long
  std::uint64_t run_in_caller = 0;   ///< run by their submitter: queue full
  std::size_t queued_now = 0;        ///< in the queue
  std::size_t running_now = 0;       ///< begun and not ended
  std::size_t evaluations_now = 0;   ///< see evaluation
  runtime_stats runtimes;            ///< counts of the tracker

  /// By level; the fields above of the same names are their sums.
  std::array<level_stats, named_levels.size()> levels{};
};

/// How a shutdown ended.
struct shutdown_report {
  bool complete = false;      ///< nothing is left
  std::size_t discarded = 0;  ///< tasks that this call ended unrun
  std::size_t unfinished = 0; ///< begun, not ended when the deadline came
};

} // namespace basal::priority
