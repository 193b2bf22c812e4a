#pragma once

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

namespace basal::actors {

/// The bridge from `caf::aout` to the log, for `basal.log-aout`. CAF's printer is redirected to a
/// group with this one member, which logs each line on the printer's thread: there is no further
/// thread, and all lines are out when the printer has ended. What CAF itself reports, such as an
/// exception that no handler takes, comes the same way and becomes a warning of "basal.actors". A
/// program can still redirect `aout` itself.
class logged_aout {
public:
  /// After the printer has started.
  void start(caf::actor_system& system);

  /// After start(), once the printer has ended.
  void stop(caf::actor_system& system);

private:
  caf::actor member_;
};

} // namespace basal::actors
