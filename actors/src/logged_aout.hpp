#pragma once

#include <basal/executors/event.hpp>

#include <caf/actor.hpp>
#include <caf/group.hpp>

namespace basal::actors {

/// The bridge from `caf::aout` to the log, for `basal.log-aout`. CAF's printer is redirected to a
/// group with this one member, which logs each line on the printer's thread: there is no further
/// thread, and all lines that were printed before drain() are out when it has returned. CAF's own
/// reports, such as an exception that no handler takes, come the same way and become warnings of
/// "basal.actors". A program can still redirect `aout` itself.
class logged_aout {
public:
  /// After the printer has started. Waits for its first line: CAF 0.17.6 forgets all groups soon
  /// afterwards, and gives the printer that asks then another one of the same name.
  void start(caf::actor_system& system);

  /// Before the printer is told to end: that comes before the lines which it has not printed yet.
  /// Waits for these, at most 10 s.
  void drain();

  /// After start(), once the printer has ended.
  void stop();

private:
  bool print_mark(executors::event& seen);

  caf::actor member_;
  caf::group group_;
  executors::event redirected_, drained_;
};

} // namespace basal::actors
