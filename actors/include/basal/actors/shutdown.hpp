#pragma once

#include <caf/fwd.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace basal::actors {

/// Actors and threads that have not ended when the patience is over.
struct stragglers {
  /// Actors that the system counts, and would wait for without end.
  std::size_t running = 0;

  /// Threads of detached and blocking actors. The system's destructor waits for them in any case.
  std::size_t detached = 0;

  /// "name (id 12)" of those that can be found: CAF 0.17.6 lists only actors in its registry, and
  /// the clock knows who waits for a timeout. The others are only counted.
  std::vector<std::string> names;
};

/// "3 actors have not ended, 1 on a thread of its own; known: worker (id 12), ..."
std::string to_string(const stragglers& who);

/// Waits until all actors are done, like `system.await_all_actors_done()`, but at most for
/// `patience`. To leave with stragglers nevertheless:
///
///     if (auto who = basal::actors::await_all_actors_done(system, 5s)) {
///       std::cerr << to_string(*who) << "\n";
///       system.await_actors_before_shutdown(false);
///     }
///
/// Looks again after 1 to 50 ms. Any thread that is no executor.
/// @returns nothing if all are done
/// @throws std::logic_error if `system` does not run on basal
std::optional<stragglers> await_all_actors_done(caf::actor_system& system,
                                                std::chrono::nanoseconds patience);

} // namespace basal::actors
