#pragma once

#include <basal/executors/detail/own_time.hpp>
#include <basal/executors/fwd.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace basal::executors {

/// A pool's slow clock, alive only while an executor of the pool is awake. Every
/// few milliseconds it looks after six things that nobody else would notice
/// while a task takes long:
///
/// - It raises the attention of executors whose task has safepoints: a member's
///   countdown, learned from short leaves, would take its time to run out.
/// - It moves what a long task has left in its executor's newest-first slot to
///   the injection queue, unless all executors are at a long task. Nobody is
///   woken for that slot, because its executor nearly always empties it at once.
/// - It sees tasks that keep others waiting before they end, and those whose waits leave a CPU
///   unused, and lets the pool forget them in time (pool_config::share_cpus).
/// - It counts the tasks that block their threads, whose CPUs others may use: those that
///   have used none since the last look, and do not wait for one.
/// - It wakes an executor for work that waits for a CPU (executor_pool, "CPUs") once there is one;
///   and without one where work is behind a long task, or all that are awake are at long tasks.
/// - It lets work go around again that was to stay at its executor, where it is behind a long task
///   (detail/speedup.hpp).
///
/// Its thread begins when the first executor is awake; a stepped pool has none.
///
/// Sleeping. It goes to sleep when all executors slept at `ticks_to_sleep`
/// looks in a row: it clears `awake_` and looks once more. An executor leaves
/// the idle set and then looks at `awake_`. Both in seq_cst, so not both looks
/// can miss, and a pool that has gone idle causes no wake-ups.
class backstop {
public:
  explicit backstop(executor_pool& pool);
  ~backstop();

  /// Tells it that an executor is awake. Any thread; a load unless it sleeps.
  void arm() noexcept {
    if (!awake_.load(std::memory_order_seq_cst))
      wake();
  }

  /// Whether the kernel has refused it its thread. Any thread.
  bool is_refused() const noexcept {
    return refused_.load(std::memory_order_relaxed);
  }

  /// Ends and joins the thread; none begins later. A second call has no effect.
  void stop();

  /// One look, at all that it looks after. Its thread, or where it has none.
  void look_around() noexcept;

  /// For how many ticks the pool remembers that tasks have kept others waiting for `time`: see
  /// "CPUs" at executor_pool.
  static int ticks_to_remember(std::chrono::nanoseconds time) noexcept {
    constexpr int most = 200;
    return static_cast<int>(std::clamp<std::int64_t>(
      64 * std::min<std::chrono::nanoseconds>(time, most * tick) / tick, 1, most));
  }

  /// Whether `running` executors, as many as the CPUs or more, have left one unused for more than
  /// half (a guess) of `elapsed`, in which their work waited for `waited` in all, in ns.
  static constexpr bool leave_cpu_unused(std::size_t running, std::size_t cpus, std::int64_t waited,
                                         std::int64_t elapsed) noexcept {
    const auto spare = static_cast<std::int64_t>(running - cpus) * elapsed;
    return running >= cpus && waited > spare + elapsed / 2;
  }

private:
  static constexpr std::chrono::milliseconds tick{5};
  static constexpr int ticks_to_sleep = 4;
  static constexpr std::int64_t least_cpu_ns = 50'000; ///< a tick, of a task that is not blocked

  /// A tick, of a task that takes long by itself: threads that crowd each other out have less.
  static constexpr std::int64_t own_cpu_ns = 1'500'000;

  /// State of an executor at the last look.
  struct snapshot {
    std::uint64_t tasks_run = 0;
    void* newest = nullptr;
    std::int64_t cpu_ns = 0;    ///< used so far
    std::int64_t waited_ns = 0; ///< executor::waited_ns_
    bool same_task = false;     ///< as at the look before
    bool left_behind = false;   ///< and the same newest item behind it
  };

  void wake() noexcept;
  void begin_locked() noexcept;
  void thread_main() noexcept;
  void move_newest(executor& e) noexcept;
  void serve_wish(bool in_any_case) noexcept;
  bool all_asleep() const noexcept;

  executor_pool& pool_;
  std::vector<snapshot> seen_;
  std::uint64_t seen_at_ = 0;      ///< ticks of the executors' clock
  std::atomic<bool> awake_{false}; ///< written under the mutex
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::atomic<bool> refused_{false};
  std::thread thread_; ///< written under the mutex, once, unless stopping_
};

} // namespace basal::executors
