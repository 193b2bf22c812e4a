#include <basal/executors/executor_pool.hpp>

#include <algorithm>
#include <new>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <utility>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/thread_heritage.hpp>
#include <basal/executors/detail/tick_clock.hpp>
#include <basal/executors/placement.hpp>
#include <basal/executors/report.hpp>

#include "backstop.hpp"
#include "forked_pools.hpp"
#include "malloc_thresholds.hpp"
#include "pin_thread.hpp"
#include "recorder_environment.hpp"

#ifdef BASAL_GDB_SCRIPT
// One entry of the section in which gdb looks for scripts: a Python file (1), and its path.
// https://sourceware.org/gdb/current/onlinedocs/gdb.html/dotdebug_005fgdb_005fscripts-section.html
asm(".pushsection \".debug_gdb_scripts\", \"MS\", @progbits, 1\n"
    ".byte 1\n"
    ".asciz \"" BASAL_GDB_SCRIPT "\"\n"
    ".popsection\n");
#endif

namespace basal::executors {

namespace {

/// The others of that pool do the work.
constinit report_kind refused_threads{report_level::warning, "basal.executors",
                                      "threads that could not be had"};

pool_config validated(pool_config config) {
  config.validate();
  return config;
}

} // namespace

executor_pool::executor_pool(pool_config config)
  : config_(validated(std::move(config))),
    spin_ticks_(usable_cpus() > 1 ? tick_clock::to_ticks(config_.spin) : 0),
    move_ticks_(tick_clock::to_ticks(config_.simulate.move.count() != 0 ? config_.simulate.move
                                                                        : executor::worth_a_theft)),
    stacks_(config_.stack_bytes, config_.simulate.protected_guards
                                   ? stack_pool::guard_kind::protected_
                                   : stack_pool::guard_kind::best),
    idle_(makes_threads() ? sleepers{config_.executors, thread_maker()}
                          : sleepers{config_.executors}),
    speedup_(tick_clock::to_ticks(std::chrono::microseconds{1})),
    step_random_(config_.simulate.seed, config_.executors),
    heritage_(std::make_unique<thread_heritage>()),
    cpus_(cpus_for(config_.pin)),
    threads_(makes_threads() ? config_.executors : 0) {
  tick_clock::nanoseconds_per_tick(); // measured here, not in the first task
  raise_malloc_thresholds();
  obey_recorder_environment();
  executors_.reserve(config_.executors);
  for (std::size_t i = 0; i < config_.executors; ++i)
    executors_.push_back(std::make_unique<executor>(*this, i));
  backstop_ = std::make_unique<backstop>(*this);
  if (makes_threads())
    idle_.set_waker({this, [](void* self, std::size_t index) noexcept {
                       static_cast<executor_pool*>(self)->executors_[index]->about_to_wake();
                     }});
  try {
    if (makes_threads())
      idle_.begin(0, [this] { begin_thread(0); });
    else if (!config_.hosted)
      for (auto& e : executors_)
        e->spares_.keep(fiber::create(*e, stacks_));
    forked_pools::add(*this);
    constructed_ = true;
  } catch (...) {
    stop(stop_mode::discard);
    throw;
  }
}

sleepers::thread_maker executor_pool::thread_maker() noexcept {
  return {this, [](void* self, std::size_t index) noexcept {
            return static_cast<executor_pool*>(self)->try_begin_thread(index);
          }};
}

/// Nobody else is here for the executor. Whoever has claimed it keeps the pool: the executor has
/// not left yet.
void executor_pool::begin_thread(std::size_t index) {
  auto& e = *executors_[index];
  e.spares_.keep(fiber::create(e, stacks_)); // here, where running out of memory can be reported
  const no_signals quiet;
  std::lock_guard guard{threads_mutex_};
  threads_[index] = std::thread{[this, &e] {
    { std::lock_guard until_it_is_known_where{threads_mutex_}; }
    heritage_->take_on(!e.is_kept_);
    pthread_setname_np(pthread_self(), e.name().c_str()); // others would go through /proc
    pin(e.index());
    e.thread_main();
    say_left();
  }};
  if (config_.keep_apart && cpus_.empty())
    if (const auto allowed = heritage_->cpus())
      e.about_to_begin(threads_[index].native_handle(), *allowed);
}

bool executor_pool::try_begin_thread(std::size_t index) noexcept {
  if (forked_.load(std::memory_order_relaxed))
    return false; // a task that called fork(): see expect_no_fork
  try {
    begin_thread(index);
    return true;
  } catch (const std::exception& refused) { // std::system_error, std::bad_alloc
    refused_threads("no thread for executor \"" + executors_[index]->name()
                    + "\", the pool goes on without: " + refused.what());
  }
  executors_[index]->left_.store(true, std::memory_order_relaxed);
  say_left();
  return false;
}

/// Keeps the calling thread to the CPU of executor `index`. One that it may not use any more, such
/// as after a change of the process's cgroup, costs speed alone.
void executor_pool::pin(std::size_t index) const noexcept {
  if (cpus_.empty())
    return;
  try {
    pin_thread(pthread_self(), cpus_[index % cpus_.size()]);
  } catch (const std::exception& refused) {
    report(report_level::warning, "basal.executors", refused.what());
  }
}

executor_pool::~executor_pool() {
  forked_pools::remove(*this);
  if (forked_.load(std::memory_order_relaxed))
    abandon();
  else
    stop(stop_mode::discard);
}

/// @throws std::logic_error in a child of fork(), which has no threads to run work
void executor_pool::expect_threads() const {
  if (forked_.load(std::memory_order_relaxed)) [[unlikely]]
    throw std::logic_error("basal: a child of fork() has no executors of its parent's pool \""
                           + config_.name
                           + "\"; call exec() in it, or make a pool, a runtime or an actor system "
                             "after fork()");
}

/// In a child of fork(), the end of a pool joins nobody and frees nothing that a thread
/// of the parent may have been changing, or that this one runs on.
void executor_pool::abandon() noexcept {
  struct remains {
    std::vector<std::thread> threads;
    std::vector<std::unique_ptr<executor>> executors;
    std::unique_ptr<backstop> clock;
    std::unique_ptr<background_source> source;
    remains* next;
  };
  static remains* all = nullptr; // so that no leak is reported
  stacks_.abandon();
  if (auto* kept
      = new (std::nothrow) remains{std::move(threads_), std::move(executors_), std::move(backstop_),
                                   std::move(owned_background_), all})
    all = kept;
}

bool executor_pool::submit(work_item item) {
  return submit(item, false);
}

bool executor_pool::submit_newborn(work_item item) {
  return submit(item, true);
}

bool executor_pool::submit(work_item item, bool is_newborn) {
  BASAL_ASSERT(item, "what is handed to a pool is a piece of work");
  expect_threads();
  auto* self = executor::current();
  if (self != nullptr && &self->pool() == this) {
    if (stopping_.load(std::memory_order_relaxed))
      return false;
    self->take_slot(item, is_newborn);
    return true;
  }
  visit here{*this};
  if (!injection_.push(item, is_newborn))
    return false;
  if (!is_taken_soon(item))
    notify();
  run_for_caller();
  return true;
}

bool executor_pool::host(inbox_node& work, const completion& done) {
  BASAL_ASSERT(config_.hosted, "only a pool without threads is hosted");
  BASAL_ASSERT(executor::current() == nullptr, "no executor's thread hosts a pool");
  BASAL_ASSERT(work.item, "what is handed to a pool is a piece of work");
  BASAL_ASSERT(!done.is_set(), "hosted work sets `done`, nobody else");
  expect_threads();
  visit here{*this};
  struct stay {
    explicit stay(executor_pool& pool) noexcept : pool_(pool) {
      if (pool_.hosting_.fetch_add(1, std::memory_order_seq_cst) > 0)
        pool_.backstop_->arm(); // another one may have blocked its thread
    }
    ~stay() {
      pool_.hosting_.fetch_sub(1, std::memory_order_seq_cst);
      if (pool_.stopping_.load(std::memory_order_seq_cst)) {
        std::lock_guard guard{pool_.left_mutex_};
        pool_.left_changed_.notify_all();
      }
      pool_.say_cpu_is_free();
    }
    executor_pool& pool_;
  } guest{*this};
  if (stopping_.load(std::memory_order_seq_cst))
    return false;
  for (auto& e : executors_)
    if (e->borrow()) {
      struct loan {
        executor& lent;
        ~loan() {
          lent.lent_.store(false, std::memory_order_release);
        }
      } until_it_is_back{*e};
      if (e->spares_.empty()) // the first call
        e->spares_.keep(fiber::create(*e, stacks_));
      e->host(work, done);
      return true;
    }
  return false;
}

background_source& executor_pool::adopt_background(std::unique_ptr<background_source> source) {
  BASAL_ASSERT(source != nullptr, "a source of background work exists");
  std::lock_guard guard{background_mutex_};
  if (background_closed_)
    throw std::logic_error("basal: the executor pool was stopped and takes no background work");
  if (!owned_background_) {
    owned_background_ = std::move(source);
    background_.store(owned_background_.get(), std::memory_order_release);
  }
  return *owned_background_;
}

executor* executor_pool::claim_idle() noexcept {
  auto index = idle_.claim();
  return index ? executors_[*index].get() : nullptr;
}

void executor_pool::deliver_claimed(executor& claimed, inbox_node& node) noexcept {
  BASAL_ASSERT(&claimed.pool() == this, "an executor is claimed from its own pool");
  BASAL_ASSERT(!idle_.is_parked(claimed.index()), "an executor is claimed before the delivery");
  BASAL_ASSERT(node.item, "what is handed to a pool is a piece of work");
  visit here{*this};
  claimed.inbox_.push(node);
  idle_.wake_claimed(claimed.index());
}

void executor_pool::rouse() noexcept {
  visit here{*this};
  if (idle_.any_looking())
    return;
  if (auto index = idle_.claim())
    idle_.wake_claimed(*index);
}

/// Whether work that was just added waits for those that are awake, until there is a CPU for one
/// more. Asks only where somebody would be woken. In a pool that stops, whose backstop is gone,
/// nothing waits: num_running() sees the flag, or stop() the work.
bool executor_pool::waits_for_cpu() noexcept {
  if (!has_more_than_cpus() && (config_.share_cpus != 0 || config_.hooks.has_cpu == nullptr))
    return false;
  if (!idle_.would_wake() || num_running() == 0 || backstop_->is_refused())
    return false;
  return !cpu_wish_.ask([this] { return has_cpu(); });
}

std::size_t executor_pool::num_looking() const noexcept {
  return static_cast<std::size_t>(
    std::count_if(executors_.begin(), executors_.end(), [this](const auto& e) {
      return e->looks_.load(std::memory_order_seq_cst) && idle_.is_parked(e->index());
    }));
}

/// Whether an executor that `waker` wakes for work that was just added crowds one of another pool
/// out. Then the work waits for its own executor. Who sleeps in the other pool wakes one for it;
/// the backstop, if there is one, does at its next look, whether a CPU is free or not. In a pool
/// that stops nothing waits.
bool executor_pool::crowds(const executor& waker) noexcept {
  const auto& hooks = config_.hooks;
  if (hooks.crowds == nullptr || num_running() == 0)
    return false;
  return !cpu_wish_.ask([&] { return !hooks.crowds(hooks.context, waker); });
}

bool executor_pool::has_cpu() const noexcept {
  if (config_.share_cpus != 0 && (num_running() < config_.share_cpus || work_takes_long()))
    return true;
  const auto& hooks = config_.hooks;
  return hooks.has_cpu != nullptr && hooks.has_cpu(hooks.context);
}

void executor_pool::expect_long_work(std::chrono::nanoseconds time) noexcept {
  long_work_.note(backstop::ticks_to_remember(time));
}

/// Work has kept others waiting for `time`; on its thread, or the backstop's.
void executor_pool::note_long_work(std::chrono::nanoseconds time) noexcept {
  if (long_work_.note(backstop::ticks_to_remember(time)))
    note_free_cpu();
}

void executor_pool::note_free_cpu() noexcept {
  if (!cpu_wish_.is_there())
    return;
  visit here{*this};
  if (cpu_wish_.take() && work_for_searchers())
    notify();
}

/// Whether there is work that any executor may take and that nobody is
/// responsible for. While somebody searches, the rings are its business: it
/// asks again when it stops. While work stays, they are their owners'.
bool executor_pool::work_for_searchers() const noexcept {
  if (shared_work_waits() || background_waits())
    return true;
  if (idle_.num_searching() != 0 || work_stays())
    return false;
  for (const auto& e : executors_)
    if (!e->ring_.empty() || !e->newborns_.empty())
      return true;
  return false;
}

void executor_pool::stop(stop_mode mode) {
  if (forked_.load(std::memory_order_relaxed))
    return; // nobody is there to stop
  std::lock_guard guard{stop_mutex_};
  begin_stop(mode);
  end_stop();
}

std::vector<straggler> executor_pool::stop(stop_mode mode, std::chrono::nanoseconds patience) {
  if (forked_.load(std::memory_order_relaxed))
    return {};
  std::lock_guard guard{stop_mutex_};
  begin_stop(mode);
  {
    // For ever is more than the clock can add to its present time.
    patience = std::min<std::chrono::nanoseconds>(patience, std::chrono::hours{24 * 365 * 100});
    std::unique_lock left_guard{left_mutex_};
    if (!left_changed_.wait_for(left_guard, patience, [this] { return have_all_left(); }))
      if (auto who = stragglers(); !who.empty()) // else the last one is on its way out
        return who;
  }
  end_stop();
  return {};
}

void executor_pool::begin_stop(stop_mode mode) {
  if (auto* self = executor::current(); self != nullptr && &self->pool() == this)
    detail::assertion_failed("a pool must not be stopped by one of its own executors", __FILE__,
                             __LINE__);
  injection_.close();
  {
    std::lock_guard background{background_mutex_};
    background_closed_ = true;
    if (owned_background_)
      owned_background_->close();
  }
  if (mode == stop_mode::discard)
    discarding_.store(true, std::memory_order_relaxed);
  // First, since an executor could leave while the backstop has an item in hand.
  backstop_->stop();
  stopping_.store(true, std::memory_order_seq_cst);
  // A task may be blocked until one that waits has run: those that could take it get threads. If it
  // is discarded, one is enough.
  bool wanted = work_for_searchers();
  for (const auto& e : executors_)
    if (wanted && idle_.claim(e->index())) {
      idle_.wake_claimed(e->index());
      wanted = mode == stop_mode::drain;
    } else if (idle_.dismiss(e->index())) {
      e->left_.store(true, std::memory_order_relaxed);
      say_left();
    }
}

void executor_pool::end_stop() {
  if (stopped_)
    return;
  stopped_ = true;
  join_threads();
  if (config_.simulate.stepped && constructed_)
    leave_steps();
  for (auto& e : executors_) // of those that never ran, because there was no thread
    while (auto* f = e->spares_.take())
      fiber::destroy(*f, stacks_);
  // Overflow of an executor's queues may have come after the others had left.
  for (auto* queue : {&injection_, &nursery_})
    while (auto item = queue->pop())
      if (item.ops->discard != nullptr)
        item.ops->discard(item.object);
  while (visitors_.load(std::memory_order_acquire) != 0)
    std::this_thread::yield(); // a few instructions of somebody's
  if (owned_background_)
    owned_background_->abandon();
}

bool executor_pool::have_all_left() const noexcept {
  return left_ == threads_.size() && hosting_.load(std::memory_order_seq_cst) == 0;
}

/// Waits until all have left before it reads a handle: who makes a thread may itself be a thread
/// that is joined here, and may still be about to store the handle of one that has left.
void executor_pool::join_threads() {
  {
    std::unique_lock guard{left_mutex_};
    left_changed_.wait(guard, [this] { return have_all_left(); });
  }
  std::lock_guard guard{threads_mutex_};
  for (auto& t : threads_)
    if (t.joinable())
      t.join();
}

void executor_pool::say_left() noexcept {
  std::lock_guard guard{left_mutex_};
  ++left_;
  left_changed_.notify_all(); // under the mutex: the pool may go once it is free
}

std::vector<straggler> executor_pool::stragglers() const {
  std::vector<straggler> result;
  for (const auto& e : executors_)
    if (config_.hosted ? e->lent_.load(std::memory_order_relaxed)
                       : !e->left_.load(std::memory_order_relaxed)) {
      const auto* work = e->doing();
      result.push_back({e->name(), work != nullptr ? work : "nothing, but something there waits"});
    }
  return result;
}

std::string to_string(const std::vector<straggler>& who) {
  std::string result;
  for (const auto& one : who)
    result += (result.empty() ? "" : "; ") + one.executor + " runs " + one.work;
  return result;
}

// -- stepped mode -------------------------------------------------------------

bool executor_pool::step(std::size_t index) {
  BASAL_ASSERT(config_.simulate.stepped, "a pool with threads takes no steps");
  BASAL_ASSERT(index < executors_.size(), "an executor's index is below size()");
  return executors_[index]->step();
}

std::size_t executor_pool::run_until_idle() {
  BASAL_ASSERT(config_.simulate.stepped, "a pool with threads takes no steps");
  std::size_t ran = 0;
  while (idle_.num_awake() > 0)
    if (step(step_random_.below(size())))
      ++ran;
  return ran;
}

void executor_pool::run_for_caller() {
  if (config_.simulate.caller_runs && executor::current() == nullptr)
    run_until_idle();
}

/// Lets the loops end, as those of threads do.
void executor_pool::leave_steps() {
  auto has_ended
    = [](const std::unique_ptr<executor>& e) { return e->left_.load(std::memory_order_relaxed); };
  while (!std::all_of(executors_.begin(), executors_.end(), has_ended))
    for (auto& e : executors_)
      if (!has_ended(e))
        e->step();
}

} // namespace basal::executors
