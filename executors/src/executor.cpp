// The whole loop in one file: what an executor runs next is decided by all of its queues together,
// and the compiler inlines them into one another.

#include <basal/executors/executor.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cxxabi.h>
#include <exception>
#include <sched.h>
#include <tuple>
#include <unistd.h>
#include <utility>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/collector.hpp>
#include <basal/executors/detail/stopwatch.hpp>
#include <basal/executors/detail/tick_clock.hpp>
#include <basal/executors/executor_pool.hpp>
#include <basal/executors/recorder.hpp>
#include <basal/executors/report.hpp>

#include "backstop.hpp"
#include "free_cpu.hpp"
#include "looks.hpp"
#include "overflow_report.hpp"
#include "sanitizer.hpp"
#include "thread_usage.hpp"

namespace basal::executors {

namespace {

thread_local executor* current_executor = nullptr;

/// Before this thread goes on with another fiber.
[[gnu::always_inline]] inline void leave_running_fiber() noexcept {
  if (const auto* hooks = collector.load(std::memory_order_acquire)) [[unlikely]]
    hooks->leaves_fiber();
}

/// Window of the load average, in quanta; so long that one quantum more or less tells little.
constexpr std::uint64_t load_window_quanta = 16;

/// A look takes 0.1 us: an executor that has not looked again within this time had no CPU.
constexpr std::chrono::microseconds longest_look{50};

std::int64_t ns_of(std::uint64_t ticks) noexcept {
  return tick_clock::to_duration(ticks).count();
}

/// How often the kernel has given this thread's CPU to another one that wanted it. A hypervisor
/// that takes the CPU from the machine does not count.
long times_preempted() noexcept {
  return thread_usage().ru_nivcsw;
}

/// A lent executor gives memory back after so many times executor::rest_after: it does not sleep
/// between two calls, and a short call must not cost a system call.
constexpr std::uint64_t host_rest_after = 20;

/// Work that cannot be suspended then keeps its executor while it waits.
constinit report_kind missing_fibers{report_level::warning, "basal.executors",
                                     "stacks that could not be had"};

} // namespace

std::string executor::name() const {
  return pool_.config().name + std::to_string(index_);
}

executor* executor::current() noexcept {
  return current_executor;
}

executor* const& executor::current_slot() noexcept {
  return current_executor;
}

const work_ops executor::resume_ops{
  [](void* object, executor& self) noexcept { self.resume(*static_cast<fiber*>(object)); },
  // Never called: fibers are addressed, and what is addressed to an executor
  // is run even by a pool that discards, so that frames unwind.
  nullptr,
};

executor::executor(executor_pool& pool, std::size_t index)
  : pool_(pool),
    index_(index),
    quantum_ticks_(tick_clock::to_ticks(pool.config().quantum)),
    patience_ticks_(tick_clock::to_ticks(pool.config().steal_after)),
    look_pause_(tick_clock::to_ticks(between_looks)),
    theft_ticks_(tick_clock::to_ticks(worth_a_theft)),
    wake_up_ticks_(tick_clock::to_ticks(wake_up)),
    newborn_patience_(tick_clock::to_ticks(newborn_patience)),
    newborn_look_pause_(tick_clock::to_ticks(between_newborn_looks)),
    background_after_(tick_clock::to_ticks(pool.config().background_after)),
    tick_length_(tick_clock::to_ticks(std::chrono::nanoseconds{adaptive_interval::target_ns})),
    rest_after_(tick_clock::to_ticks(rest_after)),
    pauses_(pool.config().simulate.stepped || pool.config().hosted),
    ticks_(pool.config().simulate.ticks),
    on_cpu_(pool.config().simulate.cpu),
    flight_(
      pool.config().record ? detail::recording::acquire(
        name(), std::max(recorder::thread_bytes, recorder::pool_bytes / pool.config().executors))
                           : nullptr),
    inbox_(pool.idle_.mail(index)),
    move_time_(pool.move_ticks_.load(std::memory_order_relaxed)),
    look_time_(tick_clock::to_ticks(pool.config().look_worth), pool.config().looks_per_run),
    vain_looks_(2 * pool.spin_ticks_),
    cpu_(tick_clock::to_ticks(longest_look)),
    random_(pool.config().simulate.seed, index),
    load_(load_window_quanta * quantum_ticks_) {
  if (pool.config().newest_ops != nullptr)
    senders_ = std::make_unique<detail::sender_history>();
  if (pool.config().newest_ops != nullptr && pool.config().executors > 1) {
    turn_costs_ = std::make_unique<turn_costs>();
    until_timed_ = 1;
  }
}

executor::~executor() {
  BASAL_ASSERT(suspended_ == 0, "a suspended fiber is resumed before its executor goes");
  BASAL_ASSERT(inbox_.empty(), "nothing is delivered to an executor that has left");
  detail::recording::release(flight_);
}

// -- the thread ---------------------------------------------------------------

void executor::thread_main() {
  overflow_report report_overflows;
  enter();
  leave();
}

void executor::enter() {
  if (std::exchange(is_kept_, false))
    let_move(allowed_on_);
  // The hooks run on the thread's own stack, which cannot be suspended: to them
  // this is a plain thread.
  const auto& hooks = pool_.config().hooks;
  if (hooks.thread_starts != nullptr)
    hooks.thread_starts(hooks.context, *this);
  become(gettid());
  pool_.backstop_->arm(); // may find work at once and not sleep for long
  fiber::switch_to(*native_, *spare_fiber(), nullptr, nullptr); // made by the pool
}

/// The calling thread, number `thread` in the kernel, is this executor from now on.
void executor::become(std::int32_t thread) noexcept {
  // A step has put itself there already.
  BASAL_ASSERT(current_executor == nullptr || current_executor == this,
               "no executor runs inside of another one's thread");
  current_executor = this;
  thread_.store(thread, std::memory_order_relaxed);
  if (flight_ != nullptr)
    flight_->set_thread(thread);
  exceptions_ = abi::__cxa_get_globals();
  native_.emplace(*this);
  running_ = &*native_;
  if (!pauses_) {
    change_to(executor_state::parked, now());
    sleep(); // until there is something for it
    searching_ = true;
  }
  tick_start_ = last_look_ = awake_since_ = now();
  tick_searched_ = 0;
  begin_own_time(last_look_, true);
  load_.set_running(true, last_look_);
  change_to(executor_state::running, last_look_);
}

void executor::leave() {
  // The loop has ended. Fibers that still exist are parked inside the loop
  // itself, with nothing on their stacks that must unwind.
  BASAL_ASSERT(current_executor == this, "an executor leaves its own thread");
  BASAL_ASSERT(suspended_ == 0, "an executor does not leave while fibers wait on it");
  BASAL_ASSERT(pinned_.empty() && yielded_.empty() && ring_.empty() && newborns_.empty(),
               "an executor does not leave while work waits for it");
  while (auto* f = spares_.take())
    fiber::destroy(*f, pool_.stacks());
  seat_.leave();
  current_executor = nullptr;
  thread_.store(0, std::memory_order_relaxed);
  doing_.store(nullptr, std::memory_order_relaxed);
  const auto& hooks = pool_.config().hooks;
  if (hooks.thread_stops != nullptr)
    hooks.thread_stops(hooks.context, *this);
  left_.store(true, std::memory_order_relaxed);
}

void executor::loop() noexcept {
  // All state is in members: after run() returns, other fibers may have
  // continued the loop in between.
  while (auto item = next()) {
    run(item);
    if (pauses_)
      pause();
  }
  // This fiber is left for good; keep it where thread_main() finds it.
  spares_.keep(*running_);
}

void executor::run(work_item item) noexcept {
  ++tick_tasks_;
  ++since_injection_;
  counters_.tasks_run.add();
  // Suspended work goes on when the item before ends, which may be long after the latest look if
  // that had none.
  if (item.ops == &resume_ops && last_look_ == item_start_)
    last_look_ = now();
  item_start_ = last_look_;
  ran_ = item.object;
  running_->work_ = item;
  doing_.store(item.ops->kind, std::memory_order_relaxed);
  if (flight_ != nullptr && item.ops != &resume_ops)
    flight_->begin(item, last_look_);
  item.ops->run(item.object, *this);
}

/// Work in the child's copies of the queues is the parent's to run. As with any broken contract the
/// program aborts, without flushing buffers, whose content is the parent's, too. Not by report():
/// the locks of a log may be held by threads that the child does not have.
void executor::expect_no_fork() const noexcept {
  if (!pool_.forked_.load(std::memory_order_relaxed)) [[likely]]
    return;
  report_to_stderr(report_level::critical, "basal.executors",
                   "a task or handler on executor \"" + name()
                     + "\" called fork(), and in the child it returns or waits, where none of the "
                       "executors exist; call exec() or _exit() in the child");
  std::abort();
}

// -- fibers -------------------------------------------------------------------

fiber* executor::spare_fiber() noexcept {
  if (auto* f = spares_.take())
    return f;
  try {
    auto& f = fiber::create(*this, pool_.stacks());
    counters_.fibers_created.add();
    return &f;
  } catch (const std::exception& problem) { // no memory, or too many mappings
    missing_fibers(problem.what());
    return nullptr;
  }
}

bool executor::suspend_impl(fiber::after_action after, void* argument,
                            const char* what_for) noexcept {
  BASAL_ASSERT(current_executor == this, "only the fiber that runs suspends itself");
  BASAL_ASSERT(running_ != &*native_, "a hook, on the thread's own stack, does not wait");
  BASAL_ASSERT(what_for != nullptr, "a fiber says what it waits for");
  expect_no_fork();
  auto* next = spare_fiber();
  if (next == nullptr)
    return false;
  look(now()); // so that what runs next does not answer for this
  ++suspended_;
  counters_.suspensions.add();
  record_of_running(record_kind::suspends);
  auto attentive = attentive_.load(std::memory_order_relaxed); // only we write it
  attentive_.store(false, std::memory_order_relaxed);
  auto* watch = running_->watch();
  if (watch != nullptr)
    watch->pause();
  leave_running_fiber();
  running_->waits_since_ = last_look_;
  running_->waits_for_ = what_for;
  fiber::switch_to(*running_, *next, after, argument);
  running_->waits_for_ = nullptr;
  running_->waited_ += last_look_ - running_->waits_since_;
  doing_.store(running_->label(), std::memory_order_relaxed);
  if (watch != nullptr)
    watch->go_on();
  record_of_running(record_kind::resumes);
  attentive_.store(attentive, std::memory_order_relaxed);
  return true;
}

void executor::resume(fiber& f) noexcept {
  BASAL_ASSERT(f.home_ == this, "a fiber goes on where it was suspended");
  BASAL_ASSERT(suspended_ > 0 && &f != running_ && f.waits_for_ != nullptr,
               "what is resumed is suspended");
  --suspended_;
  leave_running_fiber();
  // The fiber that leaves is inside the loop, right here; when it is taken
  // from the spares, it returns from this call and the loop goes on.
  fiber::switch_to(
    *running_, f,
    [](void* self, fiber& from) noexcept {
      auto& owner = *static_cast<executor*>(self);
      owner.spares_.put(from, owner);
    },
    this);
}

bool executor::borrow() noexcept {
  return !lent_.load(std::memory_order_relaxed) && !lent_.exchange(true, std::memory_order_acquire);
}

/// The loop's fiber goes on from call to call, each time on another thread perhaps. It holds no
/// address of a thread-local: only functions that the loop calls anew look at one.
void executor::host(inbox_node& work, const completion& done) noexcept {
  static thread_local const overflow_report report_overflows;
  static thread_local const auto number = gettid();
  std::ignore = report_overflows;
  BASAL_ASSERT(lent_.load(std::memory_order_relaxed), "a host has borrowed the executor");
  BASAL_ASSERT(current_executor == nullptr, "no executor's thread hosts a pool");
  become(number);
  pinned_.push_back(work);
  for (auto* loop = spares_.take();; loop = std::exchange(paused_, nullptr)) {
    if (done.is_set() && suspended_ == 0 && !work_waits_behind_slot()) {
      spares_.keep(*loop);
      break;
    }
    fiber::switch_to(*native_, *loop, nullptr, nullptr);
  }
  const auto present = now();
  load_.set_running(false, present);
  change_to(executor_state::parked, present);
  run_since_rest_ += present - awake_since_;
  if (run_since_rest_ >= host_rest_after * rest_after_)
    rest();
  doing_.store(nullptr, std::memory_order_relaxed);
  thread_.store(0, std::memory_order_relaxed);
  current_executor = nullptr;
}

bool executor::step() {
  auto* outer = std::exchange(current_executor, this);
  auto before = counters_.tasks_run.get();
  if (auto* last = std::exchange(paused_, nullptr)) {
    // A step may be taken by another thread than the one before.
    exceptions_ = abi::__cxa_get_globals();
    native_->tsan_fiber_ = sanitizer::current_tsan_fiber();
    fiber::switch_to(*native_, *last, nullptr, nullptr);
  } else {
    enter();
  }
  if (paused_ == nullptr) // the loop has ended
    leave();
  current_executor = outer;
  return counters_.tasks_run.get() != before;
}

/// A sleep in stepped mode.
void executor::pause_until_woken() noexcept {
  pool_.say_cpu_is_free();
  looks_.store(true, std::memory_order_relaxed);
  while (!pool_.idle_.is_woken(index_))
    pause();
}

void executor::pause() noexcept {
  fiber::switch_to(
    *running_, *native_,
    [](void* self, fiber& from) noexcept { static_cast<executor*>(self)->paused_ = &from; }, this);
}

void executor::yield() {
  // Without a stack to go on with, the running work keeps its turn instead.
  std::ignore = suspend(
    [this](fiber& f) noexcept {
      f.node_.item = {&f, &resume_ops};
      yielded_.push_back(f.node_);
      others_turn_start_ = now();
    },
    "its turn");
}

void executor::wake(fiber& f) noexcept {
  BASAL_ASSERT(f.home_ != nullptr && f.waits_for_ != nullptr, "a fiber that waits is woken once");
  f.node_.item = {&f, &resume_ops};
  f.home_->deliver(f.node_);
}

void executor::deliver(inbox_node& node) noexcept {
  BASAL_ASSERT(node.item, "what is handed to an executor is a piece of work");
  if (current_executor == this) {
    pinned_.push_back(node);
    return;
  }
  auto hand_over = [&] {
    inbox_.push(node);
    pool_.idle_.wake(index_);
  };
  if (current_executor != nullptr && &current_executor->pool_ == &pool_) {
    hand_over(); // joined before the pool goes
  } else {
    executor_pool::visit here{pool_};
    hand_over();
  }
}

// -- queues -------------------------------------------------------------------

void executor::push_newest(work_item item) {
  take_slot(item, false);
}

void executor::push_newborn(work_item item) {
  take_slot(item, true);
}

void executor::take_slot(work_item item, bool is_newborn) {
  BASAL_ASSERT(current_executor == this, "only its own thread queues work at an executor");
  BASAL_ASSERT(item, "what is handed to an executor is a piece of work");
  if (item.ops != pool_.config().newest_ops) {
    push_back(item);
    return;
  }
  if (goes_elsewhere()) {
    pool_.injection_.push_accepted({&item, 1});
    pool_.notify();
    return;
  }
  if (auto* older = newest_.exchange(item.object, std::memory_order_acq_rel))
    put_off({older, item.ops});
  newest_is_newborn_ = is_newborn;
}

/// `item`, which was in the slot, waits elsewhere.
void executor::put_off(work_item item) noexcept {
  if (newest_is_newborn_) {
    push_newborns(item);
    ++siblings_;
  } else {
    push_ring(item);
  }
  if (pool_.idle_.would_wake() && waits_briefly() && pool_.crowds(*this))
    crowded_at_ = counters_.tasks_run.get();
  else
    notify_of_own();
}

/// There is more to do here, for others where work goes around.
void executor::notify_of_own() noexcept {
  if (!pool_.work_stays())
    pool_.notify();
}

/// Whether what waits here will have had its turn before another executor has woken up: if the
/// running work ends soon, as far as is known, and items take as long as they have lately.
bool executor::waits_briefly() const noexcept {
  const auto item = item_ticks_.load(std::memory_order_relaxed);
  return item != 0 && num_waiting() * item < wake_up_ticks_
         && senders_->of(ran_) < detail::sender_history::kind::outlasts_theft;
}

/// After a long item that has begun since others were kept from waking up: what waits has not had
/// its turn.
void executor::notify_late() noexcept {
  if (counters_.tasks_run.get() == crowded_at_)
    return;
  crowded_at_ = 0;
  if (!ring_.empty() || !newborns_.empty())
    pool_.notify();
}

/// After an item that has put off newborns: of many, the eldest is the next newborn. Where some
/// have found no room, the others follow them.
void executor::order_siblings() noexcept {
  const auto count = std::exchange(siblings_, 0);
  const bool some_are_in_nursery = std::exchange(has_spilled_newborns_, false);
  if (count < many_siblings)
    return;
  std::array<work_item, decltype(newborns_)::capacity + 1> youngest_first;
  std::size_t size = 0;
  if (newest_is_newborn_)
    if (auto item = pop_newest())
      youngest_first[size++] = item;
  const auto most = std::min<std::size_t>(size + count, youngest_first.size());
  while (size < most && newborns_.pop_back(youngest_first[size]))
    ++size; // thieves may have taken some
  if (some_are_in_nursery) {
    std::reverse(youngest_first.data(), youngest_first.data() + size);
    pool_.nursery_.push_accepted({youngest_first.data(), size});
  } else {
    for (std::size_t i = 0; i < size; ++i)
      push_newborns(youngest_first[i]);
  }
  pool_.notify(); // who looked in between has seen none
}

/// Whether whom the running work sends to should not wait for its end, as it is known to go on for
/// long after it has sent: longer than a theft costs where an executor looks for work, or has been
/// woken to, or else longer than it takes to wake one. Waits that are shorter pay for a wake-up
/// together (the problem of renting or buying: Karlin et al., "Competitive snoopy caching",
/// Algorithmica 1988).
bool executor::goes_elsewhere() noexcept {
  using kind = detail::sender_history::kind;
  if (pool_.size() == 1)
    return false;
  const auto known = senders_->of(ran_);
  if (known == kind::brief)
    return false;
  if (known == kind::sends_late)
    return waits_for_next_message();
  const auto time = now();
  end_of_wait(time);
  sent_at_ = time;
  if (known == kind::slow)
    return false;
  const auto who = find_helper(known == kind::outlasts_wake_up);
  if (who == helper::sleeps)
    is_forgone_ = true;
  return who == helper::found;
}

/// The same of one that computes and then sends, but has another message: whom it sends to would
/// wait for about as long as this one took. Since its last look it may have handled many messages,
/// and the turn leaves the rest for later where that keeps others waiting
/// (could_run_beside_newest): so this is for the first batch of a turn, and for later ones if it
/// was for that one.
bool executor::waits_for_next_message() noexcept {
  const auto since = std::max(last_look_, counted_until_);
  // In this order: after the end of its turn, which is a look, the actor may be gone.
  if (last_look_ != item_start_ && (late_turn_ != item_start_ || now() - since < theft_ticks_))
    return false;
  const auto [object, ops] = running_->work();
  if (ops != pool_.config().newest_ops || ops->has_more == nullptr || !ops->has_more(object))
    return false;
  counted_until_ = now();
  const auto took = counted_until_ - since;
  if (took < theft_ticks_)
    return false;
  late_turn_ = item_start_;
  const auto who = find_helper(took >= wake_up_ticks_);
  if (who == helper::sleeps)
    forgone_waits_ += took;
  return who == helper::found;
}

/// Of those who could run what is sent to meanwhile.
/// @param outlasts_wake_up it would wait for longer than it takes to wake one
executor::helper executor::find_helper(bool outlasts_wake_up) noexcept {
  const auto& idle = pool_.idle_;
  if (pool_.work_stays())
    return helper::none;
  if (idle.any_searcher())
    return helper::found;
  if (!idle.any_parked())
    return helper::none;
  const bool pays_for_wake_up = forgone_waits_ >= wake_up_ticks_;
  if (!outlasts_wake_up && !pays_for_wake_up && !idle.any_looking())
    return helper::sleeps;
  if (pool_.waits_for_cpu())
    return helper::none;
  if (pays_for_wake_up)
    forgone_waits_ = 0;
  return helper::found;
}

/// A turn of many messages keeps the receiver of the first one waiting, which then has as many.
/// That is for the best where they are short, and else leaves whole pipelines to one CPU. A message
/// is long enough if it takes half as long as a move. Where the others sleep, the waits pay for a
/// wake-up together, as in goes_elsewhere().
bool executor::could_run_beside_newest(std::uint64_t begun, std::uint64_t messages) noexcept {
  const auto spent = last_look_ - begun;
  const auto move = pool_.move_ticks_.load(std::memory_order_relaxed);
  const auto& idle = pool_.idle_;
  if (pool_.size() == 1 || pool_.work_stays() || spent < move || 2 * spent < messages * move
      || !idle.any_parked())
    return false;
  if (idle.num_searching() > 0 || idle.any_looking())
    return true;
  forgone_waits_ += last_look_ - std::max(begun, std::exchange(counted_until_, last_look_));
  if (forgone_waits_ < wake_up_ticks_ || pool_.waits_for_cpu())
    return false;
  forgone_waits_ = 0;
  return true;
}

/// After an item that took long, or of whose object an earlier one did: for how long one that it
/// had sent to would have waited in the slot for the end of one handler.
void executor::learn_sender(bool is_slow) noexcept {
  using kind = detail::sender_history::kind;
  end_of_wait(last_look_);
  const bool was_forgone = std::exchange(is_forgone_, false);
  if (const auto wait = std::exchange(longest_wait_, 0)) {
    const bool goes_on = wait >= theft_ticks_;
    senders_->learn(ran_, wait >= wake_up_ticks_ ? kind::outlasts_wake_up
                          : goes_on              ? kind::outlasts_theft
                          : is_slow              ? kind::sends_late
                                                 : kind::brief);
    if (goes_on && was_forgone)
      forgone_waits_ += wait;
  } else if (is_slow && newest_.load(std::memory_order_relaxed) != nullptr && pool_.size() > 1) {
    // A send that reads the clock takes longer: of those that send late only now and then.
    if (senders_->of(ran_) != kind::sends_late || ++late_senders_ % late_senders_timed == 0)
      senders_->learn(ran_, kind::slow);
  }
}

work_item executor::pop_newest() noexcept {
  if (newest_.load(std::memory_order_relaxed) == nullptr)
    return {};
  auto* object = newest_.exchange(nullptr, std::memory_order_acq_rel);
  if (object == nullptr) // the backstop was here first
    return {};
  return {object, pool_.config().newest_ops};
}

void executor::push_back(work_item item) {
  BASAL_ASSERT(current_executor == this, "only its own thread queues work at an executor");
  BASAL_ASSERT(item, "what is handed to an executor is a piece of work");
  push_ring(item);
  pool_.notify();
}

void executor::push_again(work_item item) {
  BASAL_ASSERT(current_executor == this, "only its own thread queues work at an executor");
  BASAL_ASSERT(item, "what is handed to an executor is a piece of work");
  const bool others_wait = work_waits() || pool_.background_waits();
  push_ring(item);
  if (others_wait)
    notify_of_own();
}

void executor::push_ring(work_item item) noexcept {
  push_bounded(ring_, pool_.injection_, item);
}

void executor::push_newborns(work_item item) noexcept {
  if (push_bounded(newborns_, pool_.nursery_, item))
    has_spilled_newborns_ = true;
}

/// The older half of a full queue goes to `shared`: then it returns true.
template <class Queue>
bool executor::push_bounded(Queue& own, injection_queue& shared, work_item item) noexcept {
  bool spills = false;
  for (; !own.push_back(item); spills = true) {
    counters_.overflows.add();
    std::array<work_item, Queue::max_stolen> older;
    if (auto count = own.take_half(older); count > 0) {
      shared.push_accepted({older.data(), count});
    } else {
      // A thief is making room at this moment.
      shared.push_accepted({&item, 1});
      return true;
    }
  }
  return spills;
}

bool executor::work_waits() noexcept {
  return newest_.load(std::memory_order_relaxed) != nullptr || work_waits_behind_slot()
         || !yielded_.empty() || pool_.shared_work_waits() || background_is_overdue();
}

/// Whether there is work whose turn the item in the slot may not take again and again: here, or
/// newborns of the pool.
bool executor::work_waits_behind_slot() const noexcept {
  return !ring_.empty() || newborns_wait() || !pinned_.empty() || !inbox_.empty();
}

bool executor::work_waits_for_siblings() const noexcept {
  return !ring_.empty() || !newborns_.empty() || pool_.shared_work_waits();
}

/// For those who would leave work to this executor, see executor_pool::is_taken_soon.
void executor::note_long_item(std::uint64_t ticks) noexcept {
  if (ticks > longest_item_.load(std::memory_order_relaxed))
    longest_item_.store(ticks, std::memory_order_relaxed);
}

work_item executor::next() noexcept {
  feeder_ticks_ = 0;
  const bool is_slow = last_look_ - item_start_ >= theft_ticks_;
  if (is_slow && ran_ != nullptr) { // else it has just begun
    const auto took = last_look_ - item_start_;
    note_long_item(took);
    if (took >= wake_up_ticks_ && !is_polled_)
      slot_turn_end_ = last_look_ + std::min(took, newborn_patience_);
  }
  if ((is_slow || sent_at_ != 0 || longest_wait_ != 0) && senders_) [[unlikely]] {
    learn_sender(is_slow);
    if (is_slow && crowded_at_ != 0)
      notify_late();
  }
  if (siblings_ > 0)
    order_siblings();
  // Work that waits here has a turn as long as what came from outside: that may be an actor that
  // sends much to others, with more of its kind behind it. But those wait no longer than newborns.
  if (const auto began = std::exchange(injected_at_, 0); began != 0) {
    const auto present = now();
    own_turn_end_ = present + std::min(present - began, newborn_patience_);
  }
  for (;;) {
    expect_no_fork();
    if (tick_is_over())
      end_tick();
    auto item = pop_overdue_background();
    if (!item)
      item = others_turn_is_over() ? pop_yielded() : next_own();
    if (!item)
      item = pop_injected();
    if (!item)
      item = pop_yielded();
    if (!item)
      item = search();
    if (!item)
      item = pop_background();
    if (item) {
      if (pool_.discarding_.load(std::memory_order_relaxed) && item.ops->discard != nullptr) {
        item.ops->discard(item.object);
        continue;
      }
      return item;
    }
    end_tick();
    // Work that was accepted before the stop may have come after the look above, with nobody to
    // wake: so look again, after `stopping_`.
    if (pool_.stopping_.load(std::memory_order_seq_cst) && suspended_ == 0 && inbox_.empty()
        && !pool_.shared_work_waits() && !pool_.background_waits()) {
      if (searching_) {
        searching_ = false;
        pool_.idle_.stop_searching([this] { return pool_.work_for_searchers(); });
      }
      return {};
    }
    park();
  }
}

/// Work that has yielded goes on when nothing else is to be done, or after the
/// rest had a turn as long as its own.
bool executor::others_turn_is_over() const noexcept {
  return !yielded_.empty() && now() - others_turn_start_ >= quantum_ticks_;
}

work_item executor::pop_yielded() noexcept {
  auto* node = yielded_.pop_front();
  return node != nullptr ? found(node->item) : work_item{};
}

work_item executor::next_own() noexcept {
  const bool was_polled = std::exchange(is_polled_, false);
  // With long tasks, the shortest interval would still be too long a wait: then the average tells
  // when about a millisecond has passed. But never two tasks from outside in a row, or own work
  // would starve.
  if ((since_injection_ >= interval_
       || (since_injection_ > 1
           && since_injection_ * injection_interval_.average_ns() >= adaptive_interval::target_ns))
      && (last_look_ >= own_turn_end_ || now() >= own_turn_end_))
    if (auto item = pop_injected())
      return item;
  const bool is_slots_turn = slot_turn_goes_on() || ticks_limited_ == ticks_to_unlimited - 1;
  if (is_slots_turn && newest_.load(std::memory_order_relaxed) != nullptr
      && (pinned_turn_ = !pinned_turn_))
    if (auto addressed = pop_pinned())
      return addressed;
  if (auto item = pop_newest()) {
    // The limit is for the sake of what else waits here. Where nothing does, the
    // item would only be offered to others, and two actors that take turns be
    // torn apart.
    // And not for the first one behind a long item, which may have sent it much: that takes turns
    // with the rest.
    const auto ran_for = last_look_ - item_start_;
    const bool is_fed = !was_polled && ran_for >= theft_ticks_;
    if (is_fed || is_slots_turn || tick_lifo_polls_ < max_lifo_polls || !work_waits_behind_slot()) {
      if (!is_fed && tick_lifo_polls_ < max_lifo_polls)
        ++tick_lifo_polls_;
      is_polled_ = true;
      counters_.lifo_hits.add();
      feeder_ticks_ = ran_for;
      return found(item);
    }
    put_off(item);
  }
  pinned_turn_ = !pinned_turn_;
  if (pinned_turn_)
    if (auto item = pop_pinned())
      return item;
  if (is_saturated_ && since_newborn_ >= begun_share)
    if (auto item = pop_newborn())
      return item;
  work_item item;
  if (ring_.pop_front(item)) {
    ++since_newborn_;
    return found(item);
  }
  if (auto addressed = pop_pinned())
    return addressed;
  return pop_newborn_at_last();
}

/// Whether the slot's items have not had as long as the last long item that was none of them. Else
/// actors that send to each other in short handlers would wait for the long ones of all others at
/// every few messages, as if they had had an equal share. What is addressed to this executor does
/// not wait for their turn to end: it goes on by the way.
bool executor::slot_turn_goes_on() noexcept {
  if (slot_turn_end_ != 0 && now() >= slot_turn_end_)
    slot_turn_end_ = 0;
  return slot_turn_end_ != 0;
}

/// Where none of this executor's own work has begun.
work_item executor::pop_newborn_at_last() noexcept {
  begun_waits_ = false;
  if (newborns_wait())
    if (auto begun = steal_begun())
      return begun;
  if (!begun_waits_) {
    ran_dry_ = true;
    is_saturated_ = false;
  }
  return pop_newborn();
}

bool executor::newborns_wait() const noexcept {
  return !newborns_.empty() || !pool_.nursery_.empty();
}

work_item executor::pop_newborn() noexcept {
  since_newborn_ = 0;
  if (!newborns_wait())
    return {};
  if (std::exchange(oldest_newborn_turn_, false))
    if (auto item = pop_oldest_newborn())
      return item;
  work_item item;
  return newborns_.pop_back(item) ? found(item) : pop_nursery();
}

/// In turn: those in the nursery are older than what came after them here, but what is at the
/// bottom of this executor's own may be older yet.
work_item executor::pop_oldest_newborn() noexcept {
  nursery_turn_ = !nursery_turn_;
  if (nursery_turn_)
    if (auto item = pop_nursery())
      return item;
  std::array<work_item, decltype(newborns_)::max_stolen> oldest;
  return newborns_.take_half(oldest, 1) > 0 ? found(oldest[0]) : work_item{};
}

/// A share of the nursery, as of the injection queue; the eldest runs first.
work_item executor::pop_nursery() noexcept {
  std::array<work_item, max_injected> batch;
  const auto most = newborns_.empty() ? batch.size() : std::size_t{1};
  const auto count = pool_.nursery_.pop_share(pool_.size(), {batch.data(), most});
  if (count == 0)
    return {};
  for (auto i = count - 1; i > 0; --i)
    push_newborns(batch[i]);
  // A sleeper may have taken its last look between the two queues.
  if (count > 1)
    pool_.notify();
  return found(batch[0]);
}

work_item executor::pop_pinned() noexcept {
  // Not only when the local list is empty: what arrives while fibers of this
  // executor take turns must get its turn, too.
  if (!inbox_.empty())
    inbox_.take_all(pinned_);
  auto* node = pinned_.pop_front();
  if (node == nullptr)
    return {};
  counters_.deliveries.add();
  ++since_newborn_;
  return found(node->item);
}

work_item executor::pop_injected() noexcept {
  since_injection_ = 0;
  if (pool_.injection_.empty())
    return {};
  // A fair share of them with one lock, if there is nothing else to do; else they
  // would only wait in the ring, and make it overflow to where they come from.
  std::array<work_item, max_injected> batch;
  auto most = ring_.empty() && newborns_.empty() ? batch.size() : std::size_t{1};
  auto count = pool_.injection_.pop_share(pool_.size(), {batch.data(), most});
  if (count == 0)
    return {};
  injected_at_ = now();
  counters_.injection_batches.add();
  counters_.injection_hits.add(count);
  for (std::size_t i = 1; i < count; ++i)
    push_ring(batch[i]);
  // A sleeper may have taken its last look between the queue and the ring.
  if (count > 1 && !pool_.all_is_taken_soon())
    notify_of_own();
  return found(batch[0]);
}

work_item executor::pop_background() noexcept {
  auto* source = pool_.background();
  if (source == nullptr)
    return {};
  auto item = source->take(*this);
  if (!item)
    return {};
  counters_.background_tasks.add();
  background_since_ = 0;
  return found(item);
}

work_item executor::pop_overdue_background() noexcept {
  if (background_start_ != 0)
    background_pause_
      = pool_config::foreground_share * (now() - std::exchange(background_start_, 0));
  if (!background_is_overdue())
    return {};
  auto item = pop_background();
  if (item) {
    counters_.background_turns.add();
    background_start_ = now();
  }
  return item;
}

/// Whether background work has waited for long enough, seen from here. The clock
/// is read only while some waits.
bool executor::background_is_overdue() noexcept {
  if (background_after_ == 0 || !pool_.background_waits()) {
    background_since_ = 0;
    return false;
  }
  const auto present = now();
  if (background_since_ == 0)
    background_since_ = present;
  return present - background_since_ >= std::max(background_after_, background_pause_);
}

/// Calls `look`, which looks at others' queues or waits there: that is neither the time of the work
/// that runs next nor that of this tick's items.
template <class Look>
auto executor::look_at_others(Look look) noexcept {
  record_search();
  const auto from = now();
  pool_.hunting_.fetch_add(1, std::memory_order_relaxed);
  const auto result = look();
  pool_.hunting_.fetch_sub(1, std::memory_order_relaxed);
  last_look_ = now();
  tick_searched_ += last_look_ - from;
  return result;
}

work_item executor::search() noexcept {
  if (pool_.size() == 1)
    return {};
  if (!searching_) {
    if (!pool_.idle_.start_searching())
      return {};
    searching_ = true;
  }
  const auto item = look_at_others([this] { return steal(); });
  return item ? found(item) : pop_injected();
}

work_item executor::steal() noexcept {
  if (pool_.work_stays())
    return {};
  auto count = pool_.size();
  auto first = random_.below(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto victim = (first + i) % count;
    if (victim == index_)
      continue;
    auto& owner = pool_.at(victim);
    if (newborns_stay(owner))
      if (auto item = steal_newborns(owner))
        return item;
    if (leaves_to_owner(owner, patience_ticks_,
                        [&] { return owner.ring_.size() + owner.newborns_.size(); }))
      continue;
    if (auto item = steal_newborns(owner))
      return item;
    if (auto item = steal_ring(owner))
      return item;
  }
  return steal_newest();
}

/// Whether another one that has nothing but newborns goes on without them for as long as a move
/// takes. The oldest of them are the large parts of a tree of actors then, of which it runs the
/// smallest. Watches it for so long, but not where it needs this CPU.
bool executor::newborns_stay(const executor& owner) const noexcept {
  if (patience_ticks_ == 0 || pool_.spin_ticks_ == 0 || owner.newborns_.empty())
    return false;
  const auto before = owner.counters_.tasks_run.get();
  const auto time = move_time_.ticks();
  for (const auto since = now(); now() - since < time; pause_between_looks())
    if (!owner.ring_.empty() || owner.newborns_.empty() || has_better_to_do())
      return false;
  return owner.counters_.tasks_run.get() != before;
}

/// Takes the older half of another's ring.
work_item executor::steal_ring(executor& victim) noexcept {
  work_item item;
  const auto theft = victim.ring_.steal_into(ring_, item);
  if (theft.outcome != steal_outcome::stolen)
    return {};
  counters_.tasks_stolen.add(theft.count);
  if (flight_ != nullptr)
    flight_->add(record_kind::steals, last_look_, theft.count);
  return item;
}

/// Where this executor has nothing but newborns, they wait for what has begun at another one, as
/// they do for this one's own: until none waits there, or it is worth a theft. It looks at one of
/// the others at a time: the one at which something waited the last time, or else the next one. And
/// where nothing waited, not at every newborn, since a look costs the other one lines of its cache.
work_item executor::steal_begun() noexcept {
  if (pool_.size() == 1 || patience_ticks_ == 0
      || last_look_ - saw_none_begun_ < newborn_look_pause_)
    return {};
  if (begun_at_ == index_)
    begun_at_ = (index_ + 1) % pool_.size();
  auto& other = pool_.at(begun_at_);
  const auto waiting = [&] { return other.ring_.size(); };
  if (waiting() == 0) {
    saw_none_begun_ = last_look_;
    begun_at_ = (begun_at_ + 1) % pool_.size();
    return {};
  }
  begun_waits_ = true;
  if (is_saturated_)
    return {};
  const auto patience = std::min(theft_ticks_, patience_ticks_);
  if (look_at_others([&] { return leaves_to_owner(other, patience, waiting); }))
    return {};
  const auto item = steal_ring(other);
  if (!ring_.empty()) // a sleeper may have taken its last look between the two rings
    pool_.notify();
  return item ? found(item) : item;
}

/// Takes the older half of another's newborns.
work_item executor::steal_newborns(executor& victim) noexcept {
  if (victim.newborns_.empty())
    return {};
  std::array<work_item, decltype(newborns_)::max_stolen> taken;
  const auto count = victim.newborns_.take_half(taken);
  if (count == 0)
    return {};
  for (std::uint32_t i = 0; i + 1 < count; ++i)
    push_newborns(taken[i]);
  counters_.tasks_stolen.add(count);
  if (flight_ != nullptr)
    flight_->add(record_kind::steals, last_look_, count);
  return taken[count - 1];
}

/// Takes what waits in another's newest-first slot behind one and the same item from one look to
/// the next.
work_item executor::steal_newest() noexcept {
  if (patience_ticks_ == 0)
    return {};
  const auto count = pool_.size();
  for (std::size_t i = 1; i < count; ++i) {
    auto& victim = pool_.at((index_ + i) % count);
    const auto* object = victim.newest_.load(std::memory_order_relaxed);
    if (object == nullptr)
      continue;
    const auto ran = victim.counters_.tasks_run.get();
    const auto stays = [&] {
      return victim.newest_.load(std::memory_order_relaxed) == object
             && victim.counters_.tasks_run.get() == ran;
    };
    const bool is_behind_long = has_long_items(victim);
    const auto patience = is_behind_long ? std::min(move_time_.ticks(), look_pause_) : look_pause_;
    for (const auto since = now(); stays() && now() - since < patience;
         is_behind_long ? pause_between_looks() : await_next_look())
      if (has_better_to_do())
        return {};
    if (!stays())
      continue;
    if (auto item = victim.pop_newest()) {
      counters_.tasks_stolen.add();
      return item;
    }
  }
  return {};
}

/// Whether another one's items have taken longer than one of them would take to go on at this CPU;
/// but not where it needs this CPU.
bool executor::has_long_items(const executor& owner) const noexcept {
  return pool_.spin_ticks_ != 0
         && owner.item_ticks_.load(std::memory_order_relaxed) >= move_time_.ticks();
}

/// While it looks for a wake-up: nobody wakes it for what is put into a slot. Of the others that
/// run it looks at one each time, as a look costs that one a line of its cache.
bool executor::sees_one_behind_long() noexcept {
  if (pool_.work_stays())
    return false;
  slot_seen_ = pool_.idle_.next_awake(slot_seen_);
  const auto& other = pool_.at(slot_seen_);
  if (&other == this || patience_ticks_ == 0
      || other.newest_.load(std::memory_order_relaxed) == nullptr)
    return false;
  see_begun(other);
  return has_long_items(other);
}

/// Whether a thief that leaves items to their owner should look elsewhere.
bool executor::has_better_to_do() const noexcept {
  return !inbox_.empty() || !pool_.injection_.empty()
         || pool_.stopping_.load(std::memory_order_relaxed);
}

/// Waits, pausing, until `num_waiting()` items of another one, if they are few and short, have been
/// there for `patience` (ticks), or would take their owner long at the pace at which it begins
/// items meanwhile, or it has run them, or there is something better to do. An executor that has
/// come here spends the time in which it would spin for a wake-up, or has nothing but newborns.
template <class Count>
bool executor::leaves_to_owner(const executor& owner, std::uint64_t patience,
                               Count num_waiting) noexcept {
  if (patience_ticks_ == 0)
    return false;
  if (num_waiting() == 0)
    return true;
  const auto before = see_begun(owner);
  const bool are_long = has_long_items(owner);
  for (auto since = now();; await_next_look()) {
    const auto waiting = num_waiting();
    if (waiting == 0)
      return true;
    if (are_long || waiting >= pool_config::many_items)
      return false;
    if (has_better_to_do())
      return true;
    const auto watched = now() - since;
    seen_begun_ = owner.counters_.tasks_run.get();
    const auto begun = seen_begun_ - before;
    const bool is_worth_it = watched * waiting >= (begun + 1) * theft_ticks_;
    if ((is_worth_it && watched >= look_pause_) || watched >= patience)
      return false;
  }
}

/// How many items another one, where some wait, has begun. If it has gone on since the last look,
/// that comes from its CPU and shows how far away it is. Under a simulated clock nothing is
/// measured.
std::uint64_t executor::see_begun(const executor& owner) noexcept {
  if (ticks_ != nullptr)
    return owner.counters_.tasks_run.get();
  const auto from = tick_clock::now_in_order();
  const auto begun = owner.counters_.tasks_run.get();
  const auto took = tick_clock::now_in_order() - from;
  const bool has_gone_on = std::exchange(seen_begun_, begun) != begun;
  if (std::exchange(seen_, &owner) == &owner && has_gone_on)
    note_line(took); // if another one was seen last, the line may be here already
  return begun;
}

/// A line of another one has come in `took`. The others need not know of small changes.
void executor::note_line(std::uint64_t took) noexcept {
  move_time_.note(took);
  const auto move = move_time_.ticks();
  const auto known = pool_.move_ticks_.load(std::memory_order_relaxed);
  if (move < known - known / 8 || move > known + known / 8)
    pool_.move_ticks_.store(move, std::memory_order_relaxed);
}

/// Between two looks at another's ring: each makes its owner fetch the line again
/// that it writes for every item.
void executor::await_next_look() const noexcept {
  if (pool_.spin_ticks_ == 0) { // the owner needs the CPU that this one has
    sched_yield();
    return;
  }
  const auto since = now();
  while (inbox_.empty() && pool_.injection_.empty() && now() - since < look_pause_)
    pause_between_looks();
}

/// Bookkeeping for every item on its way out: a searcher that found something
/// stops searching, and the last one makes sure that nothing else is left to
/// find without a searcher.
work_item executor::found(work_item item) noexcept {
  if (searching_) {
    searching_ = false;
    pool_.idle_.stop_searching([this] {
      return pool_.work_for_searchers() && !pool_.all_is_taken_soon() && !pool_.waits_for_cpu();
    });
  }
  return item;
}

void executor::count_quantum_end() noexcept {
  BASAL_ASSERT(current_executor == this, "only the work that runs notices its quantum's end");
  counters_.quantum_ends.add();
  record(record_kind::quantum_end, last_look_);
  if (pool_.config().hosted) // in a shorter call the backstop has nothing to do
    pool_.backstop_->arm();
}

void executor::overrun(std::uint64_t present) noexcept {
  auto ticks = present - last_look_;
  counters_.overruns.add();
  counters_.overrun_quanta.add(ticks / quantum_ticks_);
  if (pool_.has_more_than_cpus())
    learn_of_long_work(present, ticks);
  if (flight_ != nullptr)
    flight_->add(record_kind::overrun, present, ticks, flight_->name_of(running_->work()));
  const auto& hooks = pool_.config().hooks;
  if (hooks.overran != nullptr)
    hooks.overran(hooks.context, *this, running_->work(), ticks);
}

/// Between two pieces of work: time without a CPU before that is not taken off what comes.
void executor::begin_own_time(std::uint64_t present, bool was_idle) noexcept {
  if (!pool_.keeps_own_time())
    return;
  own_time_since_ = present;
  own_time_.begin(cpu_use::of_this_thread(ns_of(present)), was_idle);
  waited_ns_.store(own_time_.waited_ns(), std::memory_order_relaxed);
}

std::uint64_t executor::own_ticks(std::uint64_t ticks, std::uint64_t present,
                                  std::int64_t lost_before) noexcept {
  BASAL_ASSERT(current_executor == this, "only its own thread knows how it uses its CPU");
  if (own_time_since_ == 0 || ticks_ != nullptr || pauses_) // or by the clock of a test
    return ticks;
  const auto own
    = own_time_.of_part(ns_of(ticks), lost_before, cpu_use::of_this_thread(ns_of(present)));
  return tick_clock::to_ticks(std::chrono::nanoseconds{own});
}

/// One executor at long work is in nobody's way while another one runs the rest. Where as many are
/// at long work as there are CPUs, the rest waits; and work that blocks its thread leaves a CPU
/// unused. Where threads wait for each other's locks, another one would do so, too: of short waits
/// the backstop sees whether they leave a CPU unused for long.
void executor::learn_of_long_work(std::uint64_t present, std::uint64_t ticks) noexcept {
  const auto own = own_time_.of_work(ns_of(ticks), cpu_use::of_this_thread(ns_of(present)),
                                     std::chrono::nanoseconds{wake_up}.count());
  waited_ns_.store(own_time_.waited_ns(), std::memory_order_relaxed);
  if (own.ns < pool_.config().quantum.count())
    return;
  own_time_since_ = present;
  long_from_.store(present - ticks, std::memory_order_seq_cst);
  long_to_.store(present, std::memory_order_seq_cst);
  const auto at_long_work = [&] {
    return std::count_if(pool_.executors_.begin(), pool_.executors_.end(), [&](const auto& e) {
      return e->was_at_long_work(present - ticks, present);
    });
  };
  if (own.has_blocked || static_cast<std::size_t>(at_long_work()) >= pool_.config().share_cpus)
    pool_.note_long_work(std::chrono::nanoseconds{own.ns});
}

/// Whether it was, for a quantum of the time from `from` to `to`, or is as of the backstop's last
/// look. Reads the end first: with a new end, an old beginning would bridge what was in between.
bool executor::was_at_long_work(std::uint64_t from, std::uint64_t to) const noexcept {
  const auto ended = std::min(to, long_to_.load(std::memory_order_seq_cst));
  const auto begun = std::max(from, long_from_.load(std::memory_order_seq_cst));
  return is_stuck_.load(std::memory_order_relaxed) || ended >= begun + quantum_ticks_;
}

/// The fiber that runs is suspended, or goes on, at the last look.
void executor::record_of_running(record_kind kind) noexcept {
  if (flight_ == nullptr)
    return;
  const auto* name = running_->work_name_;
  flight_->add(kind, last_look_, running_,
               name != nullptr ? flight_->name_of(name) : flight_->name_of(running_->work()));
}

/// Reads the clock if the work that ran had no look: otherwise its time would count as search.
void executor::record_search() noexcept {
  if (flight_ != nullptr)
    flight_->add(record_kind::searches, last_look_ != item_start_ ? last_look_ : now());
}

/// If they are as long as the last time, to a factor of two, that is no news.
void executor::record_queues(std::uint64_t present) noexcept {
  if (flight_ == nullptr)
    return;
  constexpr std::size_t most = (std::size_t{1} << 24) - 1;
  const auto own = std::min(num_waiting(), most);
  const auto injected = std::min(pool_.injection_.size() + pool_.nursery_.size(), most);
  const auto magnitudes
    = static_cast<std::uint64_t>(std::bit_width(own) * 64 + std::bit_width(injected));
  if (std::exchange(recorded_length_, magnitudes) != magnitudes)
    flight_->add(record_kind::queue_length, present, injected << 24 | own);
}

/// By the time of the last look, which costs nothing; it may be before the tick.
bool executor::tick_is_over() const noexcept {
  return tick_tasks_ >= budget_per_tick
         || (last_look_ > tick_start_ && last_look_ - tick_start_ >= tick_length_);
}

void executor::end_tick() noexcept {
  auto present = now();
  auto ns = tick_clock::to_duration(present - tick_start_).count();
  injection_interval_.record(static_cast<std::uint64_t>(ns), tick_tasks_);
  interval_ = injection_interval_.tasks();
  // The smaller one of two, so that a tick in which others had a time slice does not count.
  const auto searched = std::exchange(tick_searched_, 0);
  if (tick_tasks_ > 0) {
    const auto item = (present - tick_start_ - searched) / tick_tasks_;
    item_ticks_.store(std::min(item, std::exchange(tick_item_, item)), std::memory_order_relaxed);
    if (pool_.work_stays()) [[unlikely]]
      note_tick_while_work_stays(present, item);
    if (const auto longest = longest_item_.load(std::memory_order_relaxed); longest != 0)
      longest_item_.store(longest - longest / 8 - 1, std::memory_order_relaxed);
  }
  record_queues(present);
  if (present - own_time_since_ >= tick_length_)
    begin_own_time(present, false);
  tick_start_ = present;
  note_cpu();
  // A tick that had nothing but items of the slot has ended early, by the time that they took. If
  // others wait, they have not had a turn, and come first now.
  if (tick_tasks_ > tick_lifo_polls_ || !work_waits_behind_slot())
    tick_lifo_polls_ = 0;
  tick_tasks_ = 0;
  ticks_limited_ = (ticks_limited_ + 1) % ticks_to_unlimited;
  note_newborns(present);
}

/// Whether the oldest newborn has its turn, and whether newborns have waited for too long for what
/// has begun, is decided once a tick, as the clock is read.
void executor::note_newborns(std::uint64_t present) noexcept {
  if (std::exchange(ran_dry_, false))
    busy_since_ = present;
  is_saturated_ = present - std::max(busy_since_, awake_since_) >= newborn_patience_;
  if (!newborns_wait()) {
    newborns_since_ = 0;
  } else if (newborns_since_ == 0) {
    newborns_since_ = present;
  } else if (present - newborns_since_ >= newborn_patience_) {
    newborns_since_ = present;
    oldest_newborn_turn_ = true;
  }
}

// -- sleep --------------------------------------------------------------------

void executor::park() noexcept {
  auto& idle = pool_.idle_;
  auto must_sleep = idle.prepare_sleep(index_, std::exchange(searching_, false), [this] {
    const auto& hooks = pool_.config().hooks;
    if (hooks.goes_idle != nullptr)
      hooks.goes_idle(hooks.context, *this);
    return must_stay_awake();
  });
  if (must_sleep) {
    counters_.times_parked.add();
    doing_.store(nullptr, std::memory_order_relaxed);
    const auto since = now();
    record(record_kind::parks, since);
    load_.set_running(false, since);
    change_to(executor_state::looking, since);
    run_since_rest_ += since - awake_since_;
    look_time_.ran_for(since - awake_since_);
    looks_.store(true, std::memory_order_relaxed);
    if (pool_.config().simulate.stepped)
      pause_until_woken();
    const auto looked = linger();
    looks_.store(false, std::memory_order_seq_cst); // before it says so: see cpu_wish
    if (!idle.is_woken(index_)) {
      record(record_kind::sleeps, since + looked);
      change_to(executor_state::parked, since + looked);
      pool_.say_cpu_is_free();
    }
    if (run_since_rest_ >= rest_after_ && !idle.is_woken(index_))
      rest();
    const bool slept = sleep();
    (slept ? counters_.wake_ups : counters_.spin_wake_ups).add();
    tick_start_ = last_look_ = awake_since_ = now();
    if (slept || last_look_ - since >= wake_up_ticks_) // it may have lost its CPU while it looked
      begin_own_time(last_look_, true);
    record(record_kind::wakes, last_look_);
    load_.set_running(true, last_look_);
    change_to(executor_state::running, last_look_);
    look_time_.waited_for(awake_since_ - since, looked);
    vain_looks_.ended(awake_since_ - since, looked, slept);
  }
  searching_ = true;
  if (!pool_.config().hosted)
    pool_.backstop_->arm();
}

unsigned executor::cpu() const noexcept {
  return on_cpu_ == nullptr ? static_cast<unsigned>(sched_getcpu()) : on_cpu_();
}

void executor::note_cpu() noexcept {
  BASAL_ASSERT(current_executor == this, "an executor notes the CPU of its own thread");
  seat_.be_on(cpu());
}

void executor::change_to(executor_state state, std::uint64_t present) noexcept {
  if (state == executor_state::running)
    note_cpu();
  else
    seat_.leave();
  times_.enter(state, present);
}

/// While it looks: another executor is to run on this CPU, and cannot.
bool executor::is_in_the_way() const noexcept {
  return running_executors.anybody_on(cpu());
}

/// @returns whether it slept in the kernel
bool executor::sleep() noexcept {
  slept_on_ = cpu();
  const bool slept = pool_.idle_.sleep(index_);
  if (std::exchange(is_kept_, false))
    let_move(allowed_on_);
  return slept;
}

/// Whether it has much to do after the present call: a computation is in the middle of its work, or
/// what waits here takes long, if it takes as long as items have lately. All that is addressed to
/// this executor counts as one item.
bool executor::stays_busy() const noexcept {
  if (attentive_.load(std::memory_order_relaxed))
    return true;
  const bool is_addressed = !pinned_.empty() || !inbox_.empty() || !yielded_.empty();
  const auto waiting
    = num_waiting() + pool_.injection_.size() + pool_.nursery_.size() + (is_addressed ? 1 : 0);
  return waiting * injection_interval_.average_ns() >= std::uint64_t{worth_keeping_apart.count()};
}

/// Before the kernel wakes this executor, which sleeps in it; on the waking thread. It counts as
/// running from now on, where it went to sleep: an executor that looks for work on that CPU,
/// perhaps the one that wakes it, would keep it from beginning.
void executor::about_to_wake() noexcept {
  if (pool_.config().keep_apart && current_executor != nullptr && current_executor->stays_busy())
    keep_apart();
  else
    seat_.be_on(slept_on_);
}

/// Its thread was just made by the calling one, and waits until this returns. The kernel may have
/// put it behind its maker, to wait there for a time slice of some milliseconds beside CPUs that
/// idle; so it begins on others, and may run anywhere from then on.
void executor::about_to_begin(pthread_t thread, const cpu_set_t& allowed) noexcept {
  running_on maker; // it goes on, and an executor may not have noted yet where it is
  maker.be_on(cpu());
  const auto elsewhere = free_cpus(running_executors, allowed);
  if (CPU_COUNT(&elsewhere) == 0)
    return;
  allowed_on_ = allowed;
  if (const auto simulated = pool_.config().simulate.keep; simulated != nullptr) {
    unsigned first = 0;
    while (!CPU_ISSET(first, &elsewhere))
      ++first;
    is_kept_ = simulated(0, first);
  } else {
    is_kept_ = begin_on(thread, elsewhere);
  }
}

/// Sees to it that an executor that goes on does not have to share its CPU with this one, which it
/// wakes: this one wakes up where it went to sleep, or if an executor runs there, where none does.
void executor::keep_apart() noexcept {
  const auto thread = thread_.load(std::memory_order_relaxed);
  allowed_on_ = allowed_cpus(thread);
  const auto target = free_cpu(running_executors, allowed_on_, slept_on_, &core_of);
  seat_.be_on(target.value_or(slept_on_)); // before it is there, so that nobody else chooses it
  if (!target || CPU_COUNT(&allowed_on_) == 1)
    return;
  const auto simulated = pool_.config().simulate.keep;
  is_kept_ = (simulated == nullptr ? &keep_on : simulated)(thread, *target);
}

/// Looks for a wake-up that may come soon, before the kernel has to be asked for it; and for what
/// waits in slots, for which it wakes itself.
/// @returns for how many ticks
std::uint64_t executor::linger() noexcept {
  if (pool_.spin_ticks_ == 0)
    return 0;
  const auto& hooks = pool_.config().hooks;
  if (hooks.lingers == nullptr && !vain_looks_.is_due())
    return 0;
  const auto start = now();
  auto looked = std::uint64_t{0};
  auto next_slot = start + look_pause_ / 2;
  auto look_for = [&](std::uint64_t ticks, auto ends, auto taken) {
    for (const auto before = looked;
         looked - before < ticks && !pool_.idle_.is_woken(index_) && !is_in_the_way();) {
      pause_between_looks();
      const auto present = now();
      if (present >= next_slot) {
        next_slot = present + look_pause_ / 2;
        if (sees_one_behind_long())
          pool_.idle_.wake(index_);
        else if (ends())
          return;
      }
      const auto passed = present - start - std::exchange(looked, present - start);
      if (cpu_.was_away(present, passed, taken))
        return;
    }
  };
  // So short a look seldom meets the hypervisor; to ask the kernel would cost a part of it.
  look_for(
    pool_.spin_ticks_, [] { return false; }, [] { return true; });
  if (pool_.idle_.is_woken(index_) || !cpu_.is_free(start + looked))
    return looked;
  auto may_look = [&] { return !hooks.may_look || hooks.may_look(hooks.context, *this); };
  auto more = look_time_.expected();
  if (more != 0 && !may_look())
    more = 0;
  if (hooks.lingers != nullptr)
    more = std::max(more, hooks.lingers(hooks.context, *this));
  look_for(
    more, [&] { return !may_look(); },
    [before = times_preempted()] { return times_preempted() != before; });
  return looked;
}

/// Gives memory back while there is nothing else to do.
void executor::rest() noexcept {
  run_since_rest_ = 0;
  spares_.rest(*running_);
}

/// The last look before sleep. seq_cst loads throughout: see idle_set.
bool executor::must_stay_awake() const noexcept {
  if (!inbox_.empty() || pool_.work_for_searchers())
    return true;
  return pool_.stopping_.load(std::memory_order_seq_cst) && suspended_ == 0;
}

executor_stats executor::stats() const noexcept {
  const auto& c = counters_;
  const auto present = now();
  const auto times = times_.at(present);
  const auto ns_in = [&](executor_state state) {
    return static_cast<std::uint64_t>(
      tick_clock::to_duration(times[static_cast<std::size_t>(state)]).count());
  };
  return {
    .tasks_run = c.tasks_run.get(),
    .tasks_stolen = c.tasks_stolen.get(),
    .lifo_hits = c.lifo_hits.get(),
    .injection_hits = c.injection_hits.get(),
    .deliveries = c.deliveries.get(),
    .injection_batches = c.injection_batches.get(),
    .background_tasks = c.background_tasks.get(),
    .background_turns = c.background_turns.get(),
    .times_parked = c.times_parked.get(),
    .wake_ups = c.wake_ups.get(),
    .spin_wake_ups = c.spin_wake_ups.get(),
    .overflows = c.overflows.get(),
    .fibers_created = c.fibers_created.get(),
    .suspensions = c.suspensions.get(),
    .overruns = c.overruns.get(),
    .overrun_quanta = c.overrun_quanta.get(),
    .quantum_ends = c.quantum_ends.get(),
    .running_ns = ns_in(executor_state::running),
    .looking_ns = ns_in(executor_state::looking),
    .parked_ns = ns_in(executor_state::parked),
    .load_permille = static_cast<std::uint64_t>(load_.at(present) * 1000),
    .waiting_now = num_waiting(),
  };
}

} // namespace basal::executors
