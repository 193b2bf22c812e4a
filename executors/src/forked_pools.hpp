#pragma once

#include <basal/executors/fwd.hpp>

namespace basal::executors {

/// All pools of the process, so that a child of fork() knows that it has none of
/// their threads: each is marked there before fork() returns (pthread_atfork).
/// Programs that are started by vfork() or posix_spawn() are no such children.
class forked_pools {
public:
  /// Any thread; a mutex, which fork() holds while it copies the process.
  static void add(executor_pool& pool);
  static void remove(executor_pool& pool) noexcept;

private:
  static void before_fork() noexcept;
  static void in_parent() noexcept;
  static void in_child() noexcept;
};

} // namespace basal::executors
