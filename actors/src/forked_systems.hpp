#pragma once

#include <caf/fwd.hpp>

namespace basal::actors {

/// All actor systems of the process that run on basal, so that a child of fork() knows which are
/// its parent's (pthread_atfork). It has none of their threads, so CAF's destructor must not wait
/// there for actors to end.
class forked_systems {
public:
  /// Any thread; a mutex, which fork() holds while it copies the process.
  static void add(caf::actor_system& system);
  static void remove(caf::actor_system& system) noexcept;

  /// Whether `system` is that of a parent. Any thread.
  static bool has(caf::actor_system& system) noexcept;

private:
  static void before_fork() noexcept;
  static void in_parent() noexcept;
  static void in_child() noexcept;
};

} // namespace basal::actors
