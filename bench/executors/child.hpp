/// One run of an actor program in a process of its own: the program `actor_program`, which stands
/// beside this one.
#pragma once

#include <cstdint>
#include <string>

namespace basal::bench {

struct child_run {
  /// A peer that has not ended by then is taken to take as long. With one worker `stealing` need
  /// not end where an actor that is refused comes back at once (barber_shop).
  static constexpr int seconds_at_most = 20;

  double wall_ns = 0;
  double cpu_ns = 0;  ///< of the whole process, in that time
  double peak_kb = 0; ///< of the process's resident memory, from its start to its end
};

/// One run after a smaller one that warms up; or, if not `warmed_up`, alone.
/// @param scheduler basal, caf_stealing or caf_sharing
/// @param workers threads that run actors; 0: the scheduler's default
/// @throws std::runtime_error if the process fails: it has said why on stderr; if it does not end,
///         and is not a peer
child_run run_in_child(const std::string& program, const std::string& scheduler, int workers,
                       std::int64_t size, bool warmed_up = true);

} // namespace basal::bench
