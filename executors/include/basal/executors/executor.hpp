#pragma once

// One class: what runs next is decided by all of its queues together, as in executor.cpp.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <type_traits>

#include <basal/executors/detail/adaptive_interval.hpp>
#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/fiber.hpp>
#include <basal/executors/detail/inbox.hpp>
#include <basal/executors/detail/load_average.hpp>
#include <basal/executors/detail/look_time.hpp>
#include <basal/executors/detail/move_time.hpp>
#include <basal/executors/detail/own_time.hpp>
#include <basal/executors/detail/recording.hpp>
#include <basal/executors/detail/run_queue.hpp>
#include <basal/executors/detail/running_on.hpp>
#include <basal/executors/detail/sender_history.hpp>
#include <basal/executors/detail/shared_cpu.hpp>
#include <basal/executors/detail/spare_fibers.hpp>
#include <basal/executors/detail/state_times.hpp>
#include <basal/executors/detail/steal_stack.hpp>
#include <basal/executors/detail/tick_clock.hpp>
#include <basal/executors/detail/turn_costs.hpp>
#include <basal/executors/detail/vain_looks.hpp>
#include <basal/executors/detail/xorshift.hpp>
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
/// most `max_lifo_polls` times a tick if anything waits behind it, and not in the next one if that
/// had nothing else, or two actors that wake each other would starve the rest; but always once
/// behind an item from elsewhere that was worth a theft, for as long as one took that outlasts a
/// wake-up, 10 ms at most, and throughout one tick of `ticks_to_unlimited`); then inbox and ring in
/// turn; newborns, once nothing that has begun waits (see `begun_share`); the injection queue; work
/// that has yielded; others' newborns and rings, and slots behind long work; the pool's background
/// source; sleep. Work that has yielded comes first once the rest had a turn, and background work
/// once it has waited for pool_config::background_after.
class executor {
public:
  /// Items in a tick, or fewer if they take about a millisecond. Between two ticks the injection
  /// interval is set anew, and afterwards the newest-first slot may be used again.
  static constexpr std::uint32_t budget_per_tick = 128;

  /// Keeps the locality of a ping-pong without starving the ring. As in Tokio,
  /// a guess that served well. More of them and who is sent many messages by
  /// many runs for each; fewer, or without the millisecond, and who is sent a
  /// thousand by each has to wait behind those who go on sending (`chameneos`
  /// and `mailbox_20` of the executors' benchmark). Behind long items the slot is used without a
  /// limit, in turn with the rest: else what they send grows cold, and more than the cache holds
  /// (`log_collectors`).
  static constexpr std::uint32_t max_lifo_polls = 3;

  /// One of so many ticks has no such limit. So where messages go round many actors, one behind the
  /// other, each of them comes to those ahead of it in time, and they go on in one turn instead of
  /// one each. Seldom, as they stay together from then on.
  static constexpr std::uint32_t ticks_to_unlimited = 16;

  /// To wake another executor takes no longer, in most cases: a handler that goes on for this time
  /// after it has sent keeps the receiver waiting for longer than that.
  static constexpr std::chrono::nanoseconds wake_up = std::chrono::microseconds{100};

  /// One in so many items of all objects that are known to send late is looked into again.
  static constexpr std::uint32_t late_senders_timed = 16;

  /// Items that have begun for each newborn, where such have waited all the time for
  /// `newborn_patience`; before that newborns wait until none does. Of actors that try again at
  /// once, those that try in vain are then not joined by others: a sleeping barber with 600
  /// customers, of whom all had begun at once, took ten times as long on two executors.
  static constexpr std::uint32_t begun_share = 4;

  /// Of so many that one piece of work puts off, the eldest begins: a parent of many often makes
  /// those first to whom the others send. Fewer would cost trees of actors 4 % with one worker.
  static constexpr std::uint32_t many_siblings = 8;

  /// As long as newborns wait, the oldest of them has its turn once in this time, although newer
  /// ones come; and where what has begun goes on for longer, newborns have their share beside it. A
  /// guess: a tree of actors, whose oldest newborn is a large part of it, stays deep for as long.
  static constexpr std::chrono::nanoseconds newborn_patience = std::chrono::milliseconds{10};

  /// How often an executor that has nothing but newborns looks whether something that has begun
  /// waits at another one, if nothing did. At each newborn, programs that spawn many took up to
  /// 1.15 times as long; once in 6 us, a sleeping barber up to ten times with four executors.
  static constexpr std::chrono::nanoseconds between_newborn_looks = std::chrono::nanoseconds{1500};

  /// Items taken from the injection queue at once, at most.
  static constexpr std::size_t max_injected = 64;

  /// An executor gives back stack memory that it does not need (spare_fibers) before it sleeps,
  /// once it has run for this time. In this time it can have touched a megabyte at most, because
  /// the kernel takes 0.2 us or more for a page; and the system calls, one for each stack used, are
  /// not made for every short piece of work.
  static constexpr std::chrono::nanoseconds rest_after = std::chrono::microseconds{50};

  /// How often a thief that leaves items to their owner looks whether they are still
  /// there (pool_config::steal_after). A look costs the owner a line of its cache.
  static constexpr std::chrono::nanoseconds between_looks = std::chrono::microseconds{6};

  /// Few short items are stolen, too, once they would take their owner longer than this in sum:
  /// what comes from its cache costs some of that. Over 33 programs of actors this was the best of
  /// 6, 12, 25 and 50 us with four workers, and of 6, 9 and 12 with two; 6 us takes 1 to 3 %
  /// longer. Where the owner's last ones took longer than `move_time` on average, they are stolen
  /// at once.
  static constexpr std::chrono::nanoseconds worth_a_theft = std::chrono::microseconds{12};

  /// Work that must wait at an executor, unless it computes, before it says where one that it wakes
  /// begins (pool_config::keep_apart), which costs 7 us. A guess: some four times that cost.
  static constexpr std::chrono::nanoseconds worth_keeping_apart = std::chrono::microseconds{30};

  /// For executor_pool, which makes `executors` of them. Starts no thread.
  /// @throws std::bad_alloc, std::system_error
  executor(executor_pool& pool, std::size_t index);
  ~executor();

  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;

  /// The executor whose thread this is, or null. Not inlined, so that no
  /// compiler carries its thread-local's address across a fiber switch.
  [[gnu::noinline]] static executor* current() noexcept;

  /// The place in which this thread keeps the result of current(); lives as long as the thread.
  [[gnu::noinline]] static executor* const& current_slot() noexcept;

  /// The pool that it belongs to. Any thread.
  executor_pool& pool() const noexcept {
    return pool_;
  }

  /// Its number in the pool, from 0; executor_pool::at() takes it. Any thread.
  std::size_t index() const noexcept {
    return index_;
  }

  // -- owner only: the thread of this executor --------------------------------

  /// Queues `item` to run next; what waited in that slot goes to the ring. Items
  /// with another table than the pool's `newest_ops` go to the ring themselves.
  void push_newest(work_item item);

  /// As push_newest(), for the first turn of its object: an actor that was just spawned, say. Once
  /// another item has taken the slot, it waits among the newborns, of which the newest runs first:
  /// so a tree of actors that spawn actors is gone through depth first, and few of them exist at a
  /// time. Other executors take the oldest. Newborns wait for what has begun, see `begun_share`.
  void push_newborn(work_item item);

  /// Queues `item` behind the ring's other items; other executors may steal it.
  void push_back(work_item item);

  /// The same with the item that runs, which ends now and wants another turn. Where nothing else
  /// waits, this executor goes on with it at once and wakes nobody: an executor that is woken takes
  /// a CPU, maybe from a thread that helps this very item.
  void push_again(work_item item);

  /// Queues `node` behind what was delivered to this executor.
  void push_pinned(inbox_node& node) noexcept {
    BASAL_ASSERT(current() == this, "only its own thread queues work at an executor");
    BASAL_ASSERT(node.item, "what is handed to an executor is a piece of work");
    pinned_.push_back(node);
  }

  /// Suspends the running fiber. `publish(fiber&)` runs once its stack is left,
  /// still on this thread, and must see to it that somebody calls wake() on the
  /// fiber, once; it must not throw and may call wake() itself. Returns when
  /// the fiber is resumed, on this thread.
  /// @param publish see above; lives until it has run
  /// @param what_for the event, to be read after "waits for"; lives as long as the program
  /// @returns false, at once and without calling `publish`, when there is no
  ///          memory for the stack on which the executor would go on.
  template <class Publish>
  [[nodiscard]] bool suspend(Publish publish, const char* what_for = "an event") {
    static_assert(std::is_nothrow_invocable_v<Publish&, fiber&>);
    return suspend_impl(
      [](void* argument, fiber& from) noexcept { (*static_cast<Publish*>(argument))(from); },
      &publish, what_for);
  }

  /// Lets work that waits on this executor have a turn, then returns. Returns at
  /// once when there is no memory for the stack that this takes.
  void yield();

  /// The running work has had the chance to step aside, at `present` (ticks):
  /// it has come to the boundary between two messages, to a fork, to its end.
  /// More than a quantum since the last look is an overrun: counted, and told to
  /// pool_hooks::overran.
  void look(std::uint64_t present) noexcept {
    BASAL_ASSERT(current() == this, "only the work that runs looks up");
    if (present - last_look_ > quantum_ticks_) [[unlikely]]
      overrun(present);
    last_look_ = present;
    end_of_wait(present);
  }

  /// When it last looked, or slept, or work ended that had no look before suspended
  /// work went on: where the running work's present stretch began.
  std::uint64_t last_look() const noexcept {
    return last_look_;
  }

  /// For an item from the newest-first slot: how long, in ticks, the work ran
  /// that ran before it and probably put it there. 0 for other items.
  std::uint64_t feeder_ticks() const noexcept {
    return feeder_ticks_;
  }

  /// Whether the running work, which has handled `messages` since `begun` and has more, should
  /// leave these for later: the receiver of one waits in the newest-first slot, and could run
  /// elsewhere meanwhile.
  /// @param begun ticks
  bool turn_keeps_others_waiting(std::uint64_t begun, std::uint64_t messages) noexcept {
    return newest_.load(std::memory_order_relaxed) != nullptr
           && could_run_beside_newest(begun, messages);
  }

  /// For who runs items with the pool's `newest_ops` in turns of several messages: whether the turn
  /// that begins is to be timed (detail/speedup.hpp). Then begin_timed_turn() and end_timed_turn()
  /// come next. Costs next to nothing but for one turn of many.
  bool is_turn_timed() noexcept {
    return --until_timed_ == 0 && times_turn();
  }

  /// @param kind an address or any other number that all turns have that handle messages as this
  ///             one does; null: nothing is to be learned of its kind
  /// @returns what end_timed_turn() is to be given
  std::uint64_t begin_timed_turn(const void* kind) noexcept;

  /// It has handled `messages`; 0: as if it had not been timed.
  void end_timed_turn(std::uint64_t begun, std::uint64_t messages) noexcept;

  /// A part of the running work that another executor did has ended.
  void note_merge() noexcept {
    merged_at_ = counters_.tasks_run.get();
  }

  /// Whether it has, since the running work began or went on.
  bool has_merged() const noexcept {
    return merged_at_ == counters_.tasks_run.get();
  }

  /// The running work's quantum is over, and it has noticed.
  void count_quantum_end() noexcept;

  /// Adds to the flight recording, at `present` (tick_clock).
  /// @param subject see record_kind
  /// @param name of what it happens to; null: none
  void record(record_kind kind, std::uint64_t present, const void* subject = nullptr,
              const char* name = nullptr) noexcept {
    BASAL_ASSERT(flight_ == nullptr || current() == this, "a flight recording has one writer");
    if (flight_ != nullptr)
      flight_->add(kind, present, subject, flight_->name_of(name));
  }

  /// Its flight recording, or null.
  detail::recording* flight() const noexcept {
    return flight_;
  }

  /// The pool's quantum in ticks of tick_clock.
  std::uint64_t quantum_ticks() const noexcept {
    return quantum_ticks_;
  }

  /// Ticks since it was last idle, whatever it has run since; 0: it is idle. Any thread; a
  /// snapshot.
  std::uint64_t working_for() const noexcept {
    return times_.now_in(executor_state::running, now());
  }

  /// See own_time::lost_ns; 0 where the pool keeps no account (executor_pool::want_own_time). Its
  /// own thread.
  std::int64_t lost_ns() const noexcept {
    return own_time_.lost_ns();
  }

  /// Of the `ticks` that the running work has taken up to `present`, by the tick_clock: those in
  /// which others did not have the CPU (own_time::of_part). All of them where the pool keeps no
  /// account. Its own thread; 0.5 us.
  /// @param lost_before lost_ns() as the work began
  std::uint64_t own_ticks(std::uint64_t ticks, std::uint64_t present,
                          std::int64_t lost_before) noexcept;

  /// Whether an item waits that this executor would run if the running one
  /// stepped aside.
  bool work_waits() noexcept;

  /// Whether some of it could be taken by another executor of the pool.
  bool work_waits_for_siblings() const noexcept;

  /// How many items wait here that any executor of the pool may take. Any thread;
  /// a snapshot.
  std::size_t num_waiting() const noexcept {
    return ring_.size() + newborns_.size()
           + (newest_.load(std::memory_order_relaxed) != nullptr ? 1 : 0);
  }

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
  /// @pre it has a thread: it made the fiber that is woken, say
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

  /// Says on which CPU this executor runs: the kernel may have moved it. To be called now and then,
  /// on its thread; some nanoseconds.
  void note_cpu() noexcept;

  /// The running work has looked up. On this executor's thread.
  void clear_attention() noexcept {
    attention_.store(0, std::memory_order_relaxed);
  }

  /// Set by the running work while it has safepoints at which it would notice
  /// raise_attention(). Relaxed: a hint for whom to ask.
  std::atomic<bool>& attentive() noexcept {
    return attentive_;
  }

  /// The time, in ticks of tick_clock.
  std::uint64_t now() const noexcept {
    return ticks_ == nullptr ? tick_clock::now() : ticks_();
  }

  /// The share of its time spent running, 0 to 1, over the last few quanta.
  double load() const noexcept {
    return load_.at(now());
  }

  /// Its thread's name.
  std::string name() const;

  /// The kind of its work, for reports; null when there is none. A snapshot.
  const char* doing() const noexcept {
    return doing_.load(std::memory_order_relaxed);
  }

  /// The kernel's number of its thread; 0 before that begins and after it has ended.
  std::int32_t thread() const noexcept {
    return thread_.load(std::memory_order_relaxed);
  }

  /// Its counts, a few events apart. Any thread.
  executor_stats stats() const noexcept;

private:
  friend class backstop;
  friend class dump_answer;
  friend class executor_pool;
  friend class fiber;
  friend class overflow_report;
  friend class stack_scan;

  void thread_main(); ///< the thread's function: enter() and leave()
  void enter();       ///< begins on this thread; ends, with threads, when the loop does
  void become(std::int32_t thread) noexcept;
  void leave();         ///< the rest to do when the loop has ended
  void loop() noexcept; ///< the body of every loop fiber
  void run(work_item item) noexcept;
  void resume(fiber& f) noexcept;
  bool step();            ///< see executor_pool::step
  bool borrow() noexcept; ///< any thread; host() is next if it is true
  void host(inbox_node& work, const completion& done) noexcept; ///< see executor_pool::host
  void pause() noexcept; ///< stepped or hosted: back to step() or host()
  void pause_until_woken() noexcept;
  bool suspend_impl(fiber::after_action after, void* argument, const char* what_for) noexcept;
  fiber* spare_fiber() noexcept;

  /// Ends a child of fork() that would go on with its parent's work.
  void expect_no_fork() const noexcept;

  void rest() noexcept;

  work_item next() noexcept;
  work_item next_own() noexcept;
  work_item search() noexcept;
  template <class Look>
  auto look_at_others(Look look) noexcept;
  work_item pop_yielded() noexcept;
  bool others_turn_is_over() const noexcept;
  work_item pop_newest() noexcept;
  bool newborns_wait() const noexcept;
  work_item pop_newborn() noexcept;
  bool slot_turn_goes_on() noexcept;
  work_item pop_newborn_at_last() noexcept;
  work_item pop_oldest_newborn() noexcept;
  work_item pop_nursery() noexcept;
  void take_slot(work_item item, bool is_newborn);
  void put_off(work_item item) noexcept;
  bool waits_briefly() const noexcept;
  void notify_late() noexcept;

  /// Any thread: ticks within which it will have run `items`, or as long as one may take, as far as
  /// is known; very many, if nothing is.
  std::uint64_t time_for(std::size_t items) const noexcept {
    const auto each = item_ticks_.load(std::memory_order_relaxed);
    return each == 0 ? std::numeric_limits<std::uint64_t>::max()
                     : std::max(items * each, longest_item_.load(std::memory_order_relaxed));
  }

  void note_long_item(std::uint64_t ticks) noexcept;
  void order_siblings() noexcept;
  bool goes_elsewhere() noexcept;
  bool waits_for_next_message() noexcept;

  enum class helper {
    none,   ///< nobody is idle, or none has a CPU
    sleeps, ///< and is too dear to wake
    found   ///< one that is awake, or may be woken
  };
  helper find_helper(bool outlasts_wake_up) noexcept;

  bool could_run_beside_newest(std::uint64_t begun, std::uint64_t messages) noexcept;

  /// The item sent at `sent_at_` has had the slot until `time`: now the next one takes the slot, or
  /// the handler that has sent the item is over, or looks.
  void end_of_wait(std::uint64_t time) noexcept {
    if (sent_at_ == 0) [[likely]]
      return;
    if (time > sent_at_)
      longest_wait_ = std::max(longest_wait_, time - sent_at_);
    sent_at_ = 0;
  }

  void learn_sender(bool is_slow) noexcept;
  work_item pop_pinned() noexcept;
  work_item pop_injected() noexcept;
  work_item pop_background() noexcept;
  work_item pop_overdue_background() noexcept;
  bool background_is_overdue() noexcept;
  work_item steal() noexcept;
  bool newborns_stay(const executor& owner) const noexcept;
  work_item steal_newborns(executor& victim) noexcept;
  work_item steal_newest() noexcept;
  work_item steal_ring(executor& victim) noexcept;
  work_item steal_begun() noexcept;
  bool has_better_to_do() const noexcept;
  template <class Count>
  bool leaves_to_owner(const executor& owner, std::uint64_t patience, Count num_waiting) noexcept;
  std::uint64_t see_begun(const executor& owner) noexcept;
  void note_line(std::uint64_t took) noexcept;
  void await_next_look() const noexcept;
  bool has_long_items(const executor& owner) const noexcept;
  bool sees_one_behind_long() noexcept;
  work_item found(work_item item) noexcept;
  void push_ring(work_item item) noexcept;
  void push_newborns(work_item item) noexcept;
  template <class Queue>
  bool push_bounded(Queue& own, injection_queue& shared, work_item item) noexcept;
  void notify_of_own() noexcept;
  bool times_turn() noexcept;
  void note_tick_while_work_stays(std::uint64_t present, std::uint64_t item) noexcept;
  void note_turn(std::uint64_t present) noexcept;
  bool tick_is_over() const noexcept;
  void end_tick() noexcept;
  void note_newborns(std::uint64_t present) noexcept;
  bool work_waits_behind_slot() const noexcept;
  [[gnu::cold]] void overrun(std::uint64_t present) noexcept;
  void begin_own_time(std::uint64_t present, bool was_idle) noexcept;
  void learn_of_long_work(std::uint64_t present, std::uint64_t ticks) noexcept;
  bool was_at_long_work(std::uint64_t from, std::uint64_t to) const noexcept;
  void record_of_running(record_kind kind) noexcept;
  void record_search() noexcept;
  void record_queues(std::uint64_t present) noexcept;
  void park() noexcept;
  std::uint64_t linger() noexcept;
  bool sleep() noexcept;
  bool stays_busy() const noexcept;
  void about_to_wake() noexcept;
  void keep_apart() noexcept;
  void about_to_begin(pthread_t thread, const cpu_set_t& allowed) noexcept;
  bool is_in_the_way() const noexcept;
  unsigned cpu() const noexcept;
  void change_to(executor_state state, std::uint64_t present) noexcept;
  bool must_stay_awake() const noexcept;

  static const work_ops resume_ops;

  // -- constant after construction --
  executor_pool& pool_;
  const std::size_t index_;
  const std::uint64_t quantum_ticks_;
  const std::uint64_t patience_ticks_;      ///< pool_config::steal_after
  const std::uint64_t look_pause_;          ///< `between_looks` in ticks
  const std::uint64_t theft_ticks_;         ///< `worth_a_theft` in ticks
  const std::uint64_t wake_up_ticks_;       ///< `wake_up` in ticks
  const std::uint64_t newborn_patience_;    ///< `newborn_patience` in ticks
  const std::uint64_t newborn_look_pause_;  ///< `between_newborn_looks` in ticks
  const std::uint64_t background_after_;    ///< pool_config::background_after
  const std::uint64_t tick_length_;         ///< at most, except for the item that ends it
  const std::uint64_t rest_after_;          ///< `rest_after` in ticks
  const bool pauses_;                       ///< after each item: stepped or hosted
  std::uint64_t (*const ticks_)() noexcept; ///< null: tick_clock
  unsigned (*const on_cpu_)() noexcept;     ///< null: sched_getcpu()
  detail::recording* const flight_;
  inbox& inbox_; ///< written by any thread; beside the token that wakes this executor
  void* attachment_ = nullptr;
  void* exceptions_ = nullptr; ///< the thread's __cxa_get_globals()

  // -- written by the owner alone; read by it alone --
  fiber* running_ = nullptr; ///< the fiber this thread is on
  spare_fibers spares_;
  std::optional<fiber> native_;         ///< the thread's own stack
  fiber* paused_ = nullptr;             ///< stepped or hosted: where the loop goes on
  inbox_list pinned_;                   ///< taken out of inbox_, not yet run
  inbox_list yielded_;                  ///< wait for the others' turn to end
  std::uint64_t others_turn_start_ = 0; ///< tick_clock; valid if any has yielded
  std::size_t suspended_ = 0;           ///< fibers of this executor that wait
  bool searching_ = false;              ///< counted in the idle set as searching
  bool pinned_turn_ = false;            ///< inbox before ring, in turn
  std::uint32_t tick_tasks_ = 0;
  std::uint32_t tick_lifo_polls_ = 0;
  std::uint32_t ticks_limited_ = 0; ///< since the last tick without that limit
  bool is_polled_ = false;          ///< the latest item comes from the slot
  std::uint64_t injected_at_ = 0;   ///< ticks: when an item from outside began; 0: another one runs
  std::uint64_t slot_turn_end_ = 0; ///< ticks: until then the slot's items go first; 0: they do not
  std::uint64_t own_turn_end_ = 0;  ///< ticks: until then the next of these waits
  std::uint32_t since_injection_ = 0;
  std::uint32_t interval_ = 20;
  std::uint64_t tick_start_ = 0;     ///< tick_clock
  std::uint64_t tick_searched_ = 0;  ///< ticks since `tick_start_` spent at others' queues
  std::uint64_t tick_item_ = 0;      ///< an item's mean time in the last tick that had any
  std::uint64_t last_look_ = 0;      ///< tick_clock
  std::uint64_t awake_since_ = 0;    ///< tick_clock
  std::uint64_t run_since_rest_ = 0; ///< ticks awake since the last rest(), up to the last sleep
  std::uint64_t item_start_ = 0;     ///< last_look_ when the latest item began
  std::uint64_t feeder_ticks_ = 0;
  bool newest_is_newborn_ = false;    ///< the item that was last put into the slot
  std::uint32_t siblings_ = 0;        ///< newborns that the running work has put off
  bool has_spilled_newborns_ = false; ///< the running work: some of them are in the nursery
  bool nursery_turn_ = false;         ///< the last oldest newborn was to be one of the nursery
  std::uint32_t since_newborn_ = 0;   ///< items of the ring, and addressed ones
  bool oldest_newborn_turn_ = false;  ///< the next newborn is the oldest
  std::uint64_t newborns_since_ = 0;  ///< waiting, and the oldest not taken, since then; 0: not
  bool begun_waits_ = false;          ///< at another executor, as steal_begun() has seen
  bool ran_dry_ = true;               ///< since the last tick: nothing waited but newborns
  std::uint64_t busy_since_ = 0;      ///< the tick after it last ran dry
  bool is_saturated_ = false;         ///< busy for newborn_patience
  std::size_t begun_at_ = 0;          ///< the executor whose ring steal_begun() looks at
  std::uint64_t saw_none_begun_ = 0;  ///< the last time that it was empty; ticks
  const executor* seen_ = nullptr;    ///< the last one of which tasks_run was read
  std::uint64_t seen_begun_ = 0;      ///< that
  move_time move_time_;
  std::size_t slot_seen_ = 0; ///< the executor at whose slot it has looked last
  const void* ran_ = nullptr; ///< the object of the latest item; may be gone
  std::uint64_t sent_at_ = 0; ///< ticks when that sent, if it is a slow one, since its last look
  std::uint64_t longest_wait_
    = 0;                        ///< ticks from one of its sends to the next or to a look; 0: none
  bool is_forgone_ = false;     ///< one that it has sent to waits here, as others sleep
  std::uint64_t late_turn_ = 0; ///< item_start_ of one that sent late, with more to do
  std::uint64_t counted_until_ = 0; ///< ticks; waits in a turn until then are in `forgone_waits_`
  std::uint64_t forgone_waits_ = 0; ///< ticks for which such have waited since a wake-up
  std::uint64_t crowded_at_ = 0;   ///< `tasks_run` when nobody was woken, so as to crowd nobody out
  std::uint64_t merged_at_ = 0;    ///< `tasks_run` at the latest merge
  std::uint32_t late_senders_ = 0; ///< items of all that are known to send late
  std::unique_ptr<detail::sender_history> senders_; ///< null without a newest-first slot
  struct {
    const void* kind = nullptr;
    std::uint64_t messages = 0; ///< 0: it has not ended
    std::size_t width = 0;      ///< executors at work, as it began
    std::uint64_t from = 0;     ///< ticks
    std::uint64_t until = 0;    ///< ticks, if it has ended
    bool is_open = false;
  } timed_;                                ///< the turn that was timed last
  std::uint32_t until_timed_ = 0;          ///< turns, until one is timed or a timed one is over
  std::unique_ptr<turn_costs> turn_costs_; ///< null: no turns are timed
  std::uint64_t background_since_ = 0;     ///< seen to wait, and none taken, since then; 0: not
  std::uint64_t background_start_ = 0;     ///< of the latest piece out of turn; 0: it has ended
  std::uint64_t background_pause_ = 0;     ///< until the next one at least
  std::uint64_t recorded_length_ = 0;      ///< of the queues: see record_queues()
  look_time look_time_;
  vain_looks vain_looks_;
  shared_cpu cpu_;
  own_time own_time_;                ///< see executor_pool::keeps_own_time
  std::uint64_t own_time_since_ = 0; ///< ticks
  detail::xorshift random_;
  adaptive_interval injection_interval_;

  // -- written by the owner, and while it sleeps in the kernel by whoever is about to wake it --
  running_on seat_;
  unsigned slept_on_ = 0;  ///< the CPU
  bool is_kept_ = false;   ///< on some CPUs, to wake up or to begin there
  cpu_set_t allowed_on_{}; ///< where it might run before that

  // -- written by the owner, read by stack_scan while the owner stands still --

  /// All fibers that exist, newest first: suspended, spare or running.
  std::atomic<fiber*> fibers_{nullptr};

  /// Within a switch, when neither stack is quite left or entered.
  std::atomic<bool> switching_{false};

  // -- written by the owner, read by any thread --
  struct {
    counter tasks_run, tasks_stolen, lifo_hits, injection_hits, injection_batches, deliveries,
      background_tasks, background_turns, times_parked, wake_ups, spin_wake_ups, overflows,
      fibers_created, suspensions, overruns, overrun_quanta, quantum_ends;
  } counters_;
  /// An item's mean time in the last two ticks, the smaller one; 0: not known yet. Relaxed: a hint.
  std::atomic<std::uint64_t> item_ticks_{0};
  /// The longest of those lately that took longer than a theft. Relaxed: a hint.
  std::atomic<std::uint64_t> longest_item_{0};
  load_average load_;
  state_times times_;
  std::atomic<const char*> doing_{nullptr};
  std::atomic<std::int32_t> thread_{0};
  std::atomic<bool> left_{false}; ///< its loop has ended

  /// In a hosted pool: a thread is this executor. Acquire to borrow, release to give back: the next
  /// one sees what the last one left.
  std::atomic<bool> lent_{false};
  std::atomic<bool> attentive_{false};
  std::atomic<bool> looks_{false}; ///< for a wake-up, and has not given up; seq_cst when it does

  /// The latest work that took longer than a quantum by itself, tick_clock, where
  /// pool_config::share_cpus is a limit. Written and read in seq_cst: of two executors whose work
  /// ends at the same time, each writes before it reads the other's, so at least one sees both.
  std::atomic<std::uint64_t> long_from_{0};
  std::atomic<std::uint64_t> long_to_{0};

  /// own_time::waited_ns, once a tick, for the backstop. Relaxed: a hint.
  std::atomic<std::int64_t> waited_ns_{0};

  // -- written by the backstop, read by any thread --
  std::atomic<bool> is_stuck_{false}; ///< at the same work for two of its looks

  // -- written by the owner, the backstop and thieves --

  /// The object that runs next. Exchanges on all sides, acquire and release:
  /// whoever gets the object sees what its pusher wrote.
  alignas(64) std::atomic<void*> newest_{nullptr};

  // -- written by any thread --
  alignas(64) std::atomic<std::int32_t> attention_{0};
  run_queue<work_item> ring_;
  steal_stack<work_item> newborns_;
};

} // namespace basal::executors
