#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include <basal/executors/fwd.hpp>
#include <basal/executors/placement.hpp>
#include <basal/executors/simulation.hpp>
#include <basal/executors/work_item.hpp>

namespace basal::executors {

/// Calls from an executor to the module that built its pool. On the executor's own thread unless it
/// says otherwise; must not throw.
struct pool_hooks {
  void* context = nullptr; ///< passed to each of them

  /// First and last thing on the thread.
  /// @{
  void (*thread_starts)(void* context, executor& self) noexcept = nullptr;
  void (*thread_stops)(void* context, executor& self) noexcept = nullptr;
  /// @}

  /// Found nothing to do and is about to sleep; already in the idle set, and
  /// looks at all its queues once more afterwards.
  void (*goes_idle)(void* context, executor& self) noexcept = nullptr;

  /// Has looked for a wake-up in vain (pool_config::spin) and is about to sleep
  /// in the kernel: for how many more ticks (tick_clock) it should look at least,
  /// because one is to be expected; 0: for none. Asked once before each sleep, and
  /// not where only one CPU is usable.
  std::uint64_t (*lingers)(void* context, executor& self) noexcept = nullptr;

  /// Whether `self`, which has looked for a wake-up in vain (pool_config::spin), keeps its CPU from
  /// nobody if it looks on for look_worth. Asked before it does; a no meanwhile ends any look.
  bool (*may_look)(void* context, const executor& self) noexcept = nullptr;

  /// Has looked for a wake-up in vain and sleeps in the kernel next, or has left the thread that it
  /// was lent to: its CPU is free for others, such as a pool with `has_cpu`, which is told by
  /// executor_pool::note_free_cpu.
  void (*frees_cpu)(void* context) noexcept = nullptr;

  /// Whether there is a CPU for one more executor of this pool, beside what pool_config::share_cpus
  /// knows. While there is none, an executor that is awake is enough for work in the queues; see
  /// "CPUs" at executor_pool. On any thread.
  bool (*has_cpu)(void* context) noexcept = nullptr;

  /// Whether one more executor of this pool, which `waker` would wake, would have to share a CPU
  /// with one of another pool that looks for work to come. Asked where somebody would be woken for
  /// little work; after a yes, executor_pool::note_free_cpu is to be called when that one sleeps,
  /// or the work may wait for 5 ms. On the waker's thread; reads in seq_cst, see cpu_wish.
  bool (*crowds)(void* context, const executor& waker) noexcept = nullptr;

  /// `work` ran for `ticks` (tick_clock), more than a quantum, from one look to
  /// the next, and has not ended yet.
  void (*overran)(void* context, executor& self, work_item work,
                  std::uint64_t ticks) noexcept = nullptr;
};

/// How to build an executor_pool.
struct pool_config {
  /// Prefix of the thread names, at most 11 characters: "basal.cpu" makes
  /// "basal.cpu0".
  std::string name = "basal";

  /// Number of executors: 1 to `max_executors`. 0 is an error; see
  /// usable_cpus() for a default.
  std::size_t executors = 1;

  /// Usable bytes of each fiber's stack. Costs addresses; memory, where it is used.
  std::size_t stack_bytes = default_stack_bytes;

  /// The time slice: how long work that has yielded leaves its executor to the rest, if the rest
  /// has that much to do; and how long work may run between two looks (executor::look) before it
  /// counts as an overrun. 1 us to 1 s.
  std::chrono::nanoseconds quantum = std::chrono::microseconds{200};

  /// How long an executor looks for a wake-up before it sleeps in the kernel; 0:
  /// not at all. It keeps its CPU in this time. Messages that go to and fro come
  /// within a few microseconds; 50 us, about what waking a thread costs where a
  /// hypervisor has a part in it, took more of the CPU and gained nothing. Ignored
  /// where only one CPU is usable, and where another executor is to run on this one.
  /// Retune with `./dev bench executors`.
  std::chrono::nanoseconds spin = std::chrono::microseconds{12};

  /// The longest time that an executor looks for a wake-up, if its waits have lately been such that
  /// this pays (look_time); 0: no longer than `spin`. For short pieces of work in quick succession,
  /// which an executor that sleeps in the kernel would miss.
  std::chrono::nanoseconds look_worth{0};

  /// All these looks together take at most so many times what the executor has run.
  std::uint32_t looks_per_run = 4;

  /// Whether an executor that sleeps in the kernel, and is woken by one that goes on for long
  /// (executor::worth_keeping_apart), wakes up on a CPU where no executor of the process runs, if
  /// there is one (detail/running_on.hpp). On virtual machines the kernel often wakes a thread on
  /// its waker's CPU although others idle, and one of the two then waits for milliseconds. Costs
  /// two system calls on either side, some 7 us in all. An executor's thread begins on such a CPU,
  /// too, and not on that of the thread that made it.
  bool keep_apart = false;

  /// How many CPUs the executors share, if they may be more: while so many run, and work has not
  /// lately kept all of these for longer than a quantum, or blocked a thread and so left a CPU
  /// unused, what is in the queues waits for one of them, unless pool_hooks::has_cpu knows of one.
  /// See "CPUs" at executor_pool. 0: it is up to that hook alone.
  std::size_t share_cpus = 0;

  /// How long a thief leaves items in their owner's ring if they are fewer than
  /// `many_items`, and short. Actors that talk to each other are quicker on one core, where
  /// the message is in its cache, than side by side. But where the owner's last items took longer
  /// than it costs to go on at another CPU, the thief takes some at once; and once the items
  /// would take their owner longer than executor::worth_a_theft, the wait costs more than the
  /// cache. So it does for the newest item behind one that lasts for executor::between_looks, or as
  /// long as a move where its owner's last items took longer. 0
  /// suits tasks that have nothing to do with each other; the newest items are their owners' then,
  /// and newborns wait for what has begun at their own executor alone.
  std::chrono::nanoseconds steal_after{0};

  /// Items in a ring from which on a thief does not wait for `steal_after`.
  static constexpr std::uint32_t many_items = 32;

  /// How long background work may wait for an executor that has other things to
  /// do all the time; then the executor takes a piece of it out of turn. 0: for
  /// ever. The other things get `foreground_share` times as long as that piece
  /// took before the next one, so that background work never has more than a
  /// small part of a busy executor. Both are guesses.
  std::chrono::nanoseconds background_after = std::chrono::milliseconds{100};

  /// Times the duration of a piece of background work; see `background_after`.
  static constexpr std::uint64_t foreground_share = 20;

  /// Which CPU each executor keeps to; see placement.hpp.
  pinning pin = pinning::none;

  /// Items with this table may take the newest-first slot, which holds one
  /// object; all others go to the ring. Null: no item does.
  const work_ops* newest_ops = nullptr;

  /// The calls from its executors. Null functions are not called.
  pool_hooks hooks{};

  /// Whether its executors keep a flight recording; recorder::use(false) is stronger.
  bool record = true;

  /// The pool makes no threads for its executors: threads of others become executors for the time
  /// of a call, by executor_pool::host. It takes no other work.
  bool hosted = false;

  /// For tests. The default is the machine.
  simulation simulate{};

  /// Bounds that validate() checks, and the default of `stack_bytes`: 8 MiB.
  /// @{
  static constexpr std::chrono::nanoseconds min_quantum = std::chrono::microseconds{1};
  static constexpr std::chrono::nanoseconds max_quantum = std::chrono::seconds{1};
  static constexpr std::chrono::nanoseconds max_background_after = std::chrono::hours{1};
  static constexpr std::size_t max_executors = 4096;
  static constexpr std::size_t default_stack_bytes = 8 * 1024 * 1024;
  /// @}

  /// @throws std::invalid_argument naming the field, its value and its range.
  void validate() const;
};

} // namespace basal::executors
