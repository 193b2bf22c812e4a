#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include <basal/executors/fwd.hpp>

namespace basal::executors {

/// What an executor tells those who built its pool. Called on the executor's
/// own thread; must not throw.
struct pool_hooks {
  void* context = nullptr;

  /// First and last thing on the thread.
  void (*thread_starts)(void* context, executor& self) noexcept = nullptr;
  void (*thread_stops)(void* context, executor& self) noexcept = nullptr;

  /// Found nothing to do and is about to sleep; already in the idle set, and
  /// looks at all its queues once more afterwards.
  void (*goes_idle)(void* context, executor& self) noexcept = nullptr;
};

/// How to build an executor_pool.
struct pool_config {
  /// Prefix of the thread names, at most 11 characters: "basal.cpu" makes
  /// "basal.cpu0".
  std::string name = "basal";

  /// Number of executors: 1 to `max_executors`. 0 is an error; see
  /// usable_cpus() for a default.
  std::size_t executors = 1;

  /// Usable bytes of each fiber's stack.
  std::size_t stack_bytes = default_stack_bytes;

  /// How long work that has yielded leaves its executor to the rest, if there is
  /// so much to do.
  std::chrono::nanoseconds turn = std::chrono::microseconds{200};

  /// How often an executor looks for a wake-up, pausing in between, before it
  /// sleeps in the kernel: some 50 us at the default, which is about what waking a
  /// thread costs where a hypervisor has a part in it (waiting as long as the
  /// alternative costs is never more than twice as bad as knowing the future:
  /// Karlin et al., SOSP 1991). Ignored where only one CPU is usable. Retune with
  /// `./dev bench executors`.
  std::uint32_t spins = 128;

  /// Items with this table may take the newest-first slot, which holds one
  /// object; all others go to the ring. Null: no item does.
  const work_ops* newest_ops = nullptr;

  pool_hooks hooks;

  static constexpr std::size_t max_executors = 4096;
  static constexpr std::size_t default_stack_bytes = 256 * 1024;

  /// @throws std::invalid_argument naming the field, its value and its range.
  void validate() const;
};

/// The number of CPUs this process may use: its affinity mask, further limited
/// by the cgroup's CPU quota (rounded up). At least 1.
std::size_t usable_cpus() noexcept;

} // namespace basal::executors
