#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace basal::executors {

/// For tests: what an executor pool takes from the machine, replaced by what the
/// test says. The default is the machine.
struct simulation {
  /// Reads the time, in ticks of tick_clock; any thread. Null: tick_clock itself.
  std::uint64_t (*ticks)() noexcept = nullptr;

  /// Number of the CPU that the calling thread is on; any thread. Null: sched_getcpu().
  unsigned (*cpu)() noexcept = nullptr;

  /// Lets an executor's thread, which sleeps, run on one CPU alone, until it is awake again. Thread
  /// 0: one that has not begun; of the CPUs where it may begin, the first.
  /// @returns whether it was done. Null: the kernel does.
  bool (*keep)(std::int32_t thread, unsigned cpu) noexcept = nullptr;

  /// How many CPUs there are for the process. 0: usable_cpus(), and with `stepped` no end of them.
  std::size_t cpus = 0;

  /// The time that it costs an actor to go on at another CPU. 0: nothing has been measured yet.
  std::chrono::nanoseconds move{0};

  /// Seed of the executors' random numbers (whom to steal from first).
  std::uint64_t seed = 0;

  /// No threads: the pool runs when executor_pool::step is called, one item at a
  /// time, on the caller's thread. The same steps and ticks give the same run.
  bool stepped = false;

  /// Guards below stacks as on kernels that cannot mark pages; see stack_pool.
  bool protected_guards = false;

  /// With `stepped`: whoever submits work from outside of the pool runs it. When
  /// submit() returns, everything that the pool can do has been done, on the
  /// submitter's thread.
  bool caller_runs = false;
};

} // namespace basal::executors
