#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>

#include <basal/executors/adaptive_interval.hpp>
#include <basal/executors/fiber.hpp>
#include <basal/executors/inbox.hpp>
#include <basal/executors/run_queue.hpp>
#include <basal/executors/stats.hpp>
#include <basal/executors/work_item.hpp>

namespace basal::executors {

/// One thread with a run queue. It belongs to an executor_pool, which makes and
/// joins it.
///
/// The loop runs on a fiber. Work that suspends leaves its fiber behind, and
/// the thread continues the loop on another; whoever ends the wait puts the
/// fiber into this executor's inbox. Work that never suspends pays nothing.
///
/// Sources of work, in the order they are looked at: every so often the
/// injection queue (see adaptive_interval); the slot for the newest item (at
/// most `max_lifo_polls` times a tick if anything waits behind it, or two actors
/// that wake each other would starve the rest); then inbox and ring in turn; the
/// injection queue; work that has yielded; other rings; sleep. Work that has
/// yielded comes first once the rest had a turn.
class executor {
public:
  /// Items run between two updates of the statistics behind the injection
  /// interval, and after which the newest-first slot may be used again.
  static constexpr std::uint32_t budget_per_tick = 128;

  /// Keeps the locality of a ping-pong without starving the ring. As in Tokio,
  /// a guess that served well.
  static constexpr std::uint32_t max_lifo_polls = 3;

  executor(executor_pool& pool, std::size_t index);
  ~executor();

  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;

  /// The executor whose thread this is, or null. Not inlined, so that no
  /// compiler carries its thread-local's address across a fiber switch.
  [[gnu::noinline]] static executor* current() noexcept;

  /// Where this thread keeps what current() returns; lives as long as the thread.
  [[gnu::noinline]] static executor* const& current_slot() noexcept;

  executor_pool& pool() const noexcept {
    return pool_;
  }

  std::size_t index() const noexcept {
    return index_;
  }

  // -- owner only: the thread of this executor --------------------------------

  /// Queues `item` to run next; what waited in that slot goes to the ring. Items
  /// with another table than the pool's `newest_ops` go to the ring themselves.
  void push_newest(work_item item);

  /// Queues `item` behind the ring's other items; other executors may steal it.
  void push_back(work_item item);

  /// Queues `node` behind what was delivered to this executor.
  void push_pinned(inbox_node& node) noexcept {
    pinned_.push_back(node);
  }

  /// Suspends the running fiber. `publish(fiber&)` runs once its stack is left,
  /// still on this thread, and must see to it that somebody calls wake() on the
  /// fiber, once; it must not throw and may call wake() itself. Returns when
  /// the fiber is resumed, on this thread.
  /// @returns false, at once and without calling `publish`, when there is no
  ///          memory for the stack on which the executor would go on.
  template <class Publish>
  [[nodiscard]] bool suspend(Publish publish) {
    static_assert(std::is_nothrow_invocable_v<Publish&, fiber&>);
    return suspend_impl(
      [](void* argument, fiber& from) noexcept { (*static_cast<Publish*>(argument))(from); },
      &publish);
  }

  /// Lets work that waits on this executor have a turn, then returns. Returns at
  /// once when there is no memory for the stack that this takes.
  void yield();

  /// Whether an item waits that this executor would run if the running one
  /// stepped aside.
  bool work_waits() const noexcept;

  /// Whether some of it could be taken by another executor of the pool.
  bool work_waits_for_siblings() const noexcept;

  /// A place for the module above to keep what belongs to this thread, e.g.
  /// CAF's execution unit.
  void*& attachment() noexcept {
    return attachment_;
  }

  /// The fiber that runs now.
  fiber& running() const noexcept {
    return *running_;
  }

  // -- any thread -------------------------------------------------------------

  /// Hands `node` to this executor and wakes it if it sleeps. Lock-free.
  void deliver(inbox_node& node) noexcept;

  /// Makes a suspended fiber of this executor runnable.
  static void wake(fiber& f) noexcept;

  /// Asks the work that runs here to look up at its next safepoint.
  void raise_attention() noexcept {
    if (attention_.load(std::memory_order_relaxed) == 0)
      attention_.store(std::numeric_limits<std::int32_t>::min(), std::memory_order_relaxed);
  }

  /// 0, or the most negative number when somebody wants the running work to
  /// look up; made for testing together with a counter's sign. Relaxed: a hint
  /// whose delay costs time, never correctness.
  const std::atomic<std::int32_t>& attention() const noexcept {
    return attention_;
  }

  void clear_attention() noexcept {
    attention_.store(0, std::memory_order_relaxed);
  }

  /// Set by the running work while it has safepoints at which it would notice
  /// raise_attention(). Relaxed: a hint for whom to ask.
  std::atomic<bool>& attentive() noexcept {
    return attentive_;
  }

  executor_stats stats() const noexcept;

private:
  friend class backstop;
  friend class executor_pool;
  friend class fiber;
  friend class overflow_report;
  friend class stack_scan;

  void thread_main();   ///< the thread's function; enters the first loop fiber
  void loop() noexcept; ///< the body of every loop fiber
  void run(work_item item) noexcept;
  void resume(fiber& f) noexcept;
  bool suspend_impl(fiber::after_action after, void* argument) noexcept;
  fiber* spare_fiber() noexcept;

  work_item next() noexcept;
  work_item next_own() noexcept;
  work_item search() noexcept;
  work_item pop_yielded() noexcept;
  bool others_turn_is_over() const noexcept;
  work_item pop_newest() noexcept;
  work_item pop_pinned() noexcept;
  work_item pop_injected() noexcept;
  work_item steal() noexcept;
  work_item found(work_item item) noexcept;
  void push_ring(work_item item) noexcept;
  void end_tick() noexcept;
  void park() noexcept;
  bool must_stay_awake() const noexcept;
  std::size_t random_below(std::size_t bound) noexcept;

  static const work_ops resume_ops;

  // -- constant after construction --
  executor_pool& pool_;
  const std::size_t index_;
  void* attachment_ = nullptr;
  void* exceptions_ = nullptr; ///< the thread's __cxa_get_globals()

  // -- written by the owner alone; read by it alone --
  fiber* running_ = nullptr;            ///< the fiber this thread is on
  fiber* spares_ = nullptr;             ///< loop fibers without work on them
  fiber* native_ = nullptr;             ///< the thread's own stack
  inbox_list pinned_;                   ///< taken out of inbox_, not yet run
  inbox_list yielded_;                  ///< wait for the others' turn to end
  std::uint64_t others_turn_start_ = 0; ///< tick_clock; valid if any has yielded
  std::size_t suspended_ = 0;           ///< fibers of this executor that wait
  bool searching_ = false;              ///< counted in the idle set as searching
  bool pinned_turn_ = false;            ///< inbox before ring, in turn
  std::uint32_t tick_tasks_ = 0;
  std::uint32_t tick_lifo_polls_ = 0;
  std::uint32_t since_injection_ = 0;
  std::uint32_t interval_ = 20;
  std::uint64_t tick_start_ = 0; ///< tick_clock
  std::uint64_t random_ = 0;
  adaptive_interval injection_interval_;

  // -- written by the owner, read by stack_scan while the owner stands still --

  /// All fibers that exist, newest first: suspended, spare or running.
  std::atomic<fiber*> fibers_{nullptr};

  /// Within a switch, when neither stack is quite left or entered.
  std::atomic<bool> switching_{false};

  // -- written by the owner, read by any thread --
  struct {
    counter tasks_run, tasks_stolen, lifo_hits, injection_hits, deliveries, times_parked, overflows,
      fibers_created, suspensions;
  } counters_;
  std::atomic<bool> attentive_{false};

  // -- written by the owner and the backstop --

  /// The object that runs next. Exchanges on both sides, acquire and release:
  /// whoever gets the object sees what its pusher wrote.
  alignas(64) std::atomic<void*> newest_{nullptr};

  // -- written by any thread --
  alignas(64) std::atomic<std::int32_t> attention_{0};
  alignas(64) inbox inbox_;
  run_queue<work_item> ring_;
};

} // namespace basal::executors
