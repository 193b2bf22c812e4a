#pragma once

#include <caf/fwd.hpp>

#include <atomic>
#include <csignal>
#include <string>
#include <thread>

namespace basal::actors {

/// The work of each executor of the system, each computation as a tree of victims and delegates,
/// and each suspended fiber with the event that it waits for, for how long, and where: as
/// posse::dump. Any thread.
/// @throws std::logic_error if `system` does not run on basal
std::string dump(caf::actor_system& system);

/// While it lives, the signal writes a dump to standard error, and the program goes on. SIGQUIT is
/// what Ctrl-\ sends. A thread of its own, "basal.dump", sleeps until the signal comes. One at a
/// time; must be destroyed before the actor system.
class dump_on_signal {
public:
  /// @throws std::logic_error if `system` does not run on basal, or there is another one
  /// @throws std::system_error for a signal that cannot be handled
  explicit dump_on_signal(caf::actor_system& system, int signal = SIGQUIT);

  dump_on_signal(const dump_on_signal&) = delete;
  dump_on_signal& operator=(const dump_on_signal&) = delete;

  /// The signal does again what it did before.
  ~dump_on_signal();

private:
  void thread_main();

  caf::actor_system& system_;
  const int signal_;
  struct sigaction before_ {};
  std::atomic<bool> stopping_{false}; // release before the thread is woken, which acquires
  std::thread thread_;
};

} // namespace basal::actors
