#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <basal/executors/completion.hpp>
#include <basal/executors/config.hpp>
#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/background_source.hpp>
#include <basal/executors/detail/cpu_wish.hpp>
#include <basal/executors/detail/injection_queue.hpp>
#include <basal/executors/detail/recently.hpp>
#include <basal/executors/detail/sleepers.hpp>
#include <basal/executors/detail/speedup.hpp>
#include <basal/executors/detail/stack_pool.hpp>
#include <basal/executors/executor.hpp>
#include <basal/executors/work_item.hpp>

namespace basal::executors {

/// The fate of work that was accepted but not begun when a pool stops.
enum class stop_mode {
  drain,   ///< it runs
  discard, ///< its table's `discard` is called
};

/// An executor still running when the patience of executor_pool::stop was over, its own thread or
/// one that it is lent to.
struct straggler {
  std::string executor; ///< thread name, e.g. "basal.cpu0"
  const char* work;     ///< that it runs: a function's name, or a kind of work
};

/// "basal.cpu0 runs fib; basal.cpu1 runs a task"
std::string to_string(const std::vector<straggler>& who);

/// A fixed number of executors that share an injection queue, and a second one for newborns that
/// find no room at theirs, and steal from each other. Members may be called from any thread unless
/// they say otherwise.
///
/// Sleeping: see basic_sleepers. For a ring, newborns and the shared queues any
/// executor will do, and none is woken while another one searches; for an inbox
/// it must be its executor. So work that waits implies somebody awake or woken,
/// and an idle pool causes no wake-ups at all.
///
/// Threads. Executor 0's begins with the pool, each other one's when there is first
/// something for it. Whoever wakes the executor makes the thread, which takes the waker tens of
/// microseconds, once. The thread has its CPUs, its scheduling class and its signals from
/// whoever made the pool. Where the kernel refuses a later thread or its first stack, a
/// warning says so, and the pool goes on without that executor: its work is the others'.
///
/// CPUs. Where there is none for another executor, work in the queues waits for those that are
/// awake, of which there is always one: a further one would only take turns with them. So it is
/// where pool_hooks::has_cpu says no, and where as many executors run as pool_config::share_cpus
/// allows. Behind tasks that take longer than a quantum, turns with them are better than none. So
/// that number is no limit after that many executors were at such tasks at the same time, nor after
/// a task blocked its thread, or many did, in waits of less than 100 us, and so left a CPU unused:
/// for 64 times as long as that took, and for a second of the pool's life at most. Whoever frees a
/// CPU wakes an executor for what waits, see cpu_wish. Every few
/// milliseconds the backstop looks, too, and lets work behind a long task have one in any case;
/// where the kernel refuses the backstop its thread, no work waits for a CPU. Besides, little work
/// that items leave behind waits for their executor where pool_hooks::crowds says yes.
///
/// Stopping. stop() closes the injection queue, then wakes everybody who has a
/// thread. An executor leaves when it has nothing to run and none of its fibers is
/// suspended; what others deliver to it until then still runs.
class executor_pool {
public:
  /// Starts the first thread.
  /// @throws std::invalid_argument see pool_config::validate
  /// @throws std::system_error when the kernel refuses that thread or its stack; none is left
  ///         running then.
  explicit executor_pool(pool_config config);

  /// Stops with stop_mode::discard if nobody did before.
  ~executor_pool();

  executor_pool(const executor_pool&) = delete;
  executor_pool& operator=(const executor_pool&) = delete;

  /// Queues `item`: on one of this pool's threads into its own queue, to run
  /// next there; from anywhere else into the injection queue.
  /// @returns false when the pool was stopped: the caller keeps the item.
  /// @throws std::bad_alloc on a thread that is none of the pool's, where the injection queue must
  ///         grow and cannot; the caller keeps the item
  /// @throws std::logic_error in a child of fork(), which has no executors
  [[nodiscard]] bool submit(work_item item);

  /// As submit(), for the first turn of its object, such as an actor that was just spawned: see
  /// executor::push_newborn. From outside, an executor takes one at a time.
  [[nodiscard]] bool submit_newborn(work_item item);

  /// In a pool without threads (pool_config::hosted): makes the calling thread, which is no
  /// executor's, one of this pool's executors, on which `work` runs, and what others wake there,
  /// until `done` is set and no fiber of that executor is suspended. `work` sets `done`, and every
  /// fiber that it begins there ends before. Costs two fiber switches and no system call, but where
  /// work of another pool waited for the CPU that it frees.
  /// @returns false, with nothing done, when all executors are lent or the pool was stopped
  /// @throws std::logic_error in a child of fork(); std::bad_alloc when there is no memory for an
  ///         executor's first stack, with nothing done
  [[nodiscard]] bool host(inbox_node& work, const completion& done);

  /// How many threads are in host() now: a snapshot.
  std::size_t num_hosting() const noexcept {
    return hosting_.load(std::memory_order_seq_cst); // has_cpu may ask: see cpu_wish
  }

  /// How many executors' work had blocked its thread as of some milliseconds ago: a snapshot. Where
  /// a single thread is in host(), it may not be seen before that has run for a quantum.
  std::size_t num_blocked() const noexcept {
    return num_blocked_.load(std::memory_order_relaxed);
  }

  /// Whether stop() was called. Any thread.
  bool is_stopping() const noexcept {
    return stopping_.load(std::memory_order_relaxed);
  }

  /// How many executors sleep, or are about to: a snapshot.
  std::size_t num_idle() const noexcept {
    return idle_.num_parked();
  }

  /// @throws std::logic_error in a child of fork(), which has none of the pool's threads
  void expect_threads() const;

  /// Takes a sleeping executor, which has a thread then, out of the idle set for the caller, who
  /// must call deliver_claimed() with it next, or nothing. Used to hand over work that only makes
  /// sense where somebody is idle.
  executor* claim_idle() noexcept;

  /// The same with the executor of that index. @returns whether it slept.
  bool claim_idle(std::size_t index) noexcept {
    return idle_.claim(index);
  }

  /// Delivers to an executor that claim_idle() returned.
  void deliver_claimed(executor& claimed, inbox_node& node) noexcept;

  /// Gives the pool its source of background work, unless it has one already.
  /// @returns the source that it has now, which lives as long as the pool.
  /// @throws std::logic_error when the pool was stopped
  background_source& adopt_background(std::unique_ptr<background_source> source);

  /// The pool's source of background work, or null.
  background_source* background() const noexcept {
    return background_.load(std::memory_order_acquire);
  }

  /// Calls `add()`, which adds a piece to the source and returns whether it did,
  /// and wakes an executor for it. As with submit(), the piece may have run, and
  /// the pool be about to go, when this returns.
  template <class Add>
  bool add_background(Add add) {
    visit here{*this};
    if (!add())
      return false;
    notify();
    run_for_caller();
    return true;
  }

  /// Whether an executor sleeps.
  bool any_idle() const noexcept {
    return idle_.any_parked();
  }

  /// Whether the executor of that index does.
  bool is_idle(std::size_t index) const noexcept {
    return idle_.is_parked(index);
  }

  /// Whether an executor is idle and still awake: it takes what it is given within a
  /// microsecond, where one that sleeps in the kernel needs 50 us and more. A snapshot, as the
  /// next one.
  bool any_looking() const noexcept {
    return idle_.any_looking();
  }

  /// Whether the executor of that index is.
  bool is_looking(std::size_t index) const noexcept {
    return idle_.is_looking(index);
  }

  /// How many executors look for a wake-up and have not given up yet: a snapshot. One that gives up
  /// is not counted any more when pool_hooks::frees_cpu is called.
  std::size_t num_looking() const noexcept;

  /// From now on its executors ask the kernel how they have used their CPUs, once a tick and after
  /// a sleep, which takes 0.5 us: for executor::own_ticks. Those of a pool with more executors than
  /// CPUs do anyway.
  void want_own_time() noexcept {
    own_time_is_wanted_.store(true, std::memory_order_relaxed);
  }

  /// Whether they do.
  bool keeps_own_time() const noexcept {
    return has_more_than_cpus() || own_time_is_wanted_.load(std::memory_order_relaxed);
  }

  /// Wakes a sleeping executor for no work in particular, unless one looks already, so that it
  /// is awake when some comes: it looks for as long as pool_hooks::lingers says.
  void rouse() noexcept;

  /// After an executor or thread that has_cpu counted has left its CPU: wakes an executor if work
  /// waits for one. A load where none does.
  void note_free_cpu() noexcept;

  /// How many items wait or run, at least: a snapshot, without suspended fibers.
  std::size_t num_runnable() const noexcept {
    auto result = injection_.size() + nursery_.size() + idle_.num_awake();
    for (const auto& e : executors_)
      result += e->num_waiting();
    return result;
  }

  /// Whether long work has lately kept other work waiting, see "CPUs": a snapshot. False without
  /// pool_config::share_cpus.
  bool work_takes_long() const noexcept {
    return long_work_.has_happened();
  }

  /// As if long work had kept other work waiting for `time`, for who knows of some that the pool
  /// does not see, such as in pool_hooks::has_cpu.
  void expect_long_work(std::chrono::nanoseconds time) noexcept;

  /// How many executors run, or have been woken to run, without those whose work had blocked its
  /// thread as of some milliseconds ago: a snapshot. 0 from the beginning of stop() on.
  std::size_t num_running() const noexcept {
    if (stopping_.load(std::memory_order_seq_cst)) // executors that have left are not idle either
      return 0;
    const auto awake = idle_.num_awake();
    return awake - std::min(awake, num_blocked());
  }

  /// Stops and joins all executors. Not from one of its own threads, which ends
  /// the program with a sentence. Whoever calls it again waits for the first
  /// call to end.
  void stop(stop_mode mode);

  /// The same, but waits at most for `patience`.
  /// @returns the executors still running then; empty if the pool has stopped. Else the
  ///         pool takes no work any more, and stop() may be called again; also the
  ///         destructor does, and waits without end.
  [[nodiscard]] std::vector<straggler> stop(stop_mode mode, std::chrono::nanoseconds patience);

  /// Whether executors leave each other's work alone, but for those that have newborns and nothing
  /// else, and wake nobody for what they send to, since several have lately got less done than one
  /// of them would have (detail/speedup.hpp): a snapshot. Not in a pool that stops.
  bool work_stays() const noexcept {
    return speedup_.work_stays() && !stopping_.load(std::memory_order_seq_cst);
  }

  /// In stepped mode (simulation::stepped): lets executor `index` run one item,
  /// or find that there is none. Always from the thread that made the pool,
  /// which must not wait for something that only a step would bring about.
  /// @returns whether it ran one
  bool step(std::size_t index);

  /// In stepped mode: steps executors chosen by the pool's seed until all sleep.
  /// @returns how many items ran
  std::size_t run_until_idle();

  /// Number of executors. Constant.
  std::size_t size() const noexcept {
    return executors_.size();
  }

  /// The executor of an index below size(). Lives as long as the pool.
  /// @{
  executor& at(std::size_t index) noexcept {
    BASAL_ASSERT(index < executors_.size(), "an executor's index is below size()");
    return *executors_[index];
  }

  const executor& at(std::size_t index) const noexcept {
    BASAL_ASSERT(index < executors_.size(), "an executor's index is below size()");
    return *executors_[index];
  }
  /// @}

  /// The configuration that the pool was made with. Constant.
  const pool_config& config() const noexcept {
    return config_;
  }

  /// The pool of its fibers' stacks.
  stack_pool& stacks() noexcept {
    return stacks_;
  }

private:
  friend class backstop;
  friend class executor;
  friend class forked_pools;

  /// Keeps the pool in memory while another pool's thread, or a plain one, adds
  /// work and then looks whom to wake: that work may have run by then, and with
  /// it the reason not to destroy the pool. stop() waits for visitors. Relaxed
  /// to begin: the work that is added afterwards publishes it. Release to end,
  /// with stop()'s acquire.
  class visit {
  public:
    explicit visit(executor_pool& pool) noexcept : pool_(pool) {
      pool_.visitors_.fetch_add(1, std::memory_order_relaxed);
    }
    ~visit() {
      pool_.visitors_.fetch_sub(1, std::memory_order_release);
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;

  private:
    executor_pool& pool_;
  };

  /// After a push to a ring, to newborns or to a shared queue.
  void notify() noexcept {
    if (!waits_for_cpu())
      idle_.notify();
  }

  bool waits_for_cpu() noexcept;
  bool is_taken_soon(const work_item& injected) const noexcept;
  bool all_is_taken_soon() const noexcept;
  bool is_soon(std::uint64_t ticks) const noexcept;
  bool crowds(const executor& waker) noexcept;
  std::size_t num_at_work() const noexcept;
  std::uint64_t samples_alone() const noexcept;
  turn_costs::evidence evidence() const noexcept;
  bool judge_speedup(std::uint64_t present) noexcept;
  void let_work_go_around() noexcept;
  void say_work_goes_around() noexcept;
  bool has_cpu() const noexcept;

  /// Whether pool_config::share_cpus is a limit.
  bool has_more_than_cpus() const noexcept {
    return config_.share_cpus != 0 && config_.share_cpus < config_.executors;
  }

  void note_long_work(std::chrono::nanoseconds time) noexcept;

  void say_cpu_is_free() const noexcept {
    if (config_.hooks.frees_cpu != nullptr)
      config_.hooks.frees_cpu(config_.hooks.context);
  }

  bool submit(work_item item, bool is_newborn);
  bool work_for_searchers() const noexcept;
  void abandon() noexcept;
  bool makes_threads() const noexcept {
    return !config_.simulate.stepped && !config_.hosted;
  }

  sleepers::thread_maker thread_maker() noexcept;
  void begin_thread(std::size_t index);
  bool try_begin_thread(std::size_t index) noexcept;
  void pin(std::size_t index) const noexcept;
  bool have_all_left() const noexcept; ///< with `left_mutex_`
  void join_threads();
  void begin_stop(stop_mode mode);
  void end_stop();
  void say_left() noexcept;
  void leave_steps();

  /// In the mode simulation::caller_runs: after work came from outside.
  void run_for_caller();

  std::vector<straggler> stragglers() const;

  /// Whether work waits that no executor has in a queue of its own.
  bool shared_work_waits() const noexcept {
    return !injection_.empty() || !nursery_.empty();
  }

  bool background_waits() const noexcept {
    auto* source = background();
    return source != nullptr && !source->empty();
  }

  const pool_config config_;
  const std::uint64_t spin_ticks_; ///< pool_config::spin; 0 where only one CPU is usable
  std::atomic<std::uint64_t>
    move_ticks_; ///< move_time, as an executor has measured it last; relaxed
  stack_pool stacks_;
  injection_queue injection_;
  alignas(64) injection_queue nursery_; ///< newborns that found no room at their executors
  sleepers idle_;

  /// Written once by stop(), seq_cst before it looks at the idle set; read by
  /// executors after they entered it.
  std::atomic<bool> stopping_{false};
  std::atomic<bool> discarding_{false};
  std::atomic<bool> own_time_is_wanted_{false}; ///< relaxed: a wish

  /// In a child of fork(), which has none of the pool's threads. Written before any
  /// other thread exists there; read by submit() and, for each item, by the loop, which
  /// reads this line anyway.
  std::atomic<bool> forked_{false};

  /// Written once, under the mutex, in release; read by everybody. The source
  /// is `owned_background_`.
  std::atomic<background_source*> background_{nullptr};
  std::mutex background_mutex_; ///< for the next two, until the executors have left
  std::unique_ptr<background_source> owned_background_;
  bool background_closed_ = false;

  /// Threads in host(). They enter and leave in seq_cst, before they read `stopping_`; stop() sets
  /// that and then reads this. So a thread that stop() has not seen leave tells it so, through
  /// `left_changed_`.
  alignas(64) std::atomic<std::size_t> hosting_{0};
  std::atomic<std::size_t> num_blocked_{0}; ///< as of the backstop's last look; its only writer

  /// Executors that look at others' queues. Relaxed: a hint.
  alignas(64) std::atomic<std::uint32_t> hunting_{0};

  alignas(64) speedup speedup_;
  cpu_wish cpu_wish_;
  recently long_work_; ///< noted by executors and the backstop, whose ticks it counts

  alignas(64) std::atomic<std::size_t> visitors_{0};
  std::mutex stop_mutex_; ///< held by whoever stops
  bool stopped_ = false;  ///< guarded by stop_mutex_
  bool constructed_ = false;
  detail::xorshift step_random_;

  std::mutex left_mutex_;
  std::condition_variable left_changed_; ///< `left_`, and `hosting_` while somebody stops
  std::size_t left_ = 0;                 ///< executors that have ended; guarded by left_mutex_

  std::vector<std::unique_ptr<executor>> executors_;
  std::unique_ptr<backstop> backstop_;

  const std::unique_ptr<const thread_heritage> heritage_;
  std::vector<unsigned> cpus_; ///< to which executors are pinned; empty: to none

  /// Each is written once, by who claims the executor first, under the mutex; read by
  /// end_stop() once the thread has left.
  std::vector<std::thread> threads_;
  std::mutex threads_mutex_;
};

} // namespace basal::executors
