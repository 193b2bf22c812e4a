#include <basal/priority/background_pool.hpp>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <thread>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/executor.hpp>

#include "pool_parts.hpp"

namespace basal::priority {

namespace {

background_config validated(background_config config) {
  config.validate();
  return config;
}

void count(std::atomic<std::uint64_t>& c) noexcept {
  c.fetch_add(1, std::memory_order_relaxed);
}

/// Which part of a queue the calling thread pushes to: on an executor of `pool`
/// its own, elsewhere any, but always the same. Not inlined, so that no compiler
/// carries a thread-local's address across a fiber switch.
[[gnu::noinline]] std::size_t home_part(const executors::executor_pool& pool) noexcept {
  if (auto* self = executors::executor::current(); self != nullptr && &self->pool() == &pool)
    return self->index();
  static std::atomic<std::size_t> threads{0};
  thread_local const auto mine = threads.fetch_add(1, std::memory_order_relaxed);
  return mine;
}

} // namespace

const executors::work_ops background_pool::ops_{
  [](void* object, executors::executor& self) noexcept {
    auto& t = *static_cast<detail::task*>(object);
    t.host().run_task(t, &self);
  },
  [](void* object) noexcept {
    auto& t = *static_cast<detail::task*>(object);
    t.host().discard_task(t);
  },
};

background_pool& background_pool::of(executors::executor_pool& executors) {
  auto* source = executors.background();
  if (source == nullptr)
    source = &executors.adopt_background(
      std::unique_ptr<background_pool>(new background_pool(executors, {})));
  if (auto* mine = dynamic_cast<background_pool*>(source))
    return *mine;
  throw std::logic_error("basal: the executor pool has a background source of another kind");
}

background_pool& background_pool::build(executors::executor_pool& executors,
                                        background_config config) {
  std::unique_ptr<background_pool> made{new background_pool(executors, validated(config))};
  auto& result = *made;
  if (&executors.adopt_background(std::move(made)) != &result)
    throw std::logic_error("basal: the executor pool has a background pool already; build it "
                           "before anybody asks for it with of()");
  return result;
}

background_pool::background_pool(executors::executor_pool& executors, background_config config)
  : parts_(std::make_unique<parts>(executors, config)) {
}

background_pool::~background_pool() {
  BASAL_ASSERT(parts_->life.inside() == 0,
               "a background pool goes when all that was in it has ended");
}

// -- submitting ---------------------------------------------------------------

double background_pool::key_now(task_options options) const noexcept {
  return parts_->key(options, executors::tick_clock::now());
}

bool background_pool::goes_plain() const noexcept {
  const auto& p = *parts_;
  if (p.config.spawns != route::automatic)
    return p.config.spawns == route::plain;
  return p.evaluations.load(std::memory_order_relaxed) < 2;
}

/// Queues `t` if there is room; the queue then has the pool's reference to it.
/// @param now since when it waits
bool background_pool::push(detail::task& t, double key, std::uint64_t now) {
  auto& p = *parts_;
  return p.executors.add_background([&] {
    auto& counts = p.counts_of(t);
    t.waits_in = counts.waiting.enter(now); // before it can end
    count(counts.queued);
    const auto take_back = [&] {
      counts.queued.fetch_sub(1, std::memory_order_relaxed);
      leave_queue(t);
    };
    try {
      if (p.queue.try_push(key, &t, home_part(p.executors)))
        return true;
    } catch (const std::bad_alloc&) {
      take_back();
      throw;
    }
    take_back();
    return false;
  });
}

/// `t` has been taken out of the queue.
void background_pool::leave_queue(detail::task& t) noexcept {
  parts_->counts_of(t).waiting.leave(t.waits_in);
}

void background_pool::enqueue(owned_task t, task_options options) {
  auto& p = *parts_;
  if (!p.life.enter())
    throw pool_closed{};
  try {
    const auto now = executors::tick_clock::now();
    const auto key = p.key(options, now);
    if (!push(*t, key, now))
      enqueue_full(*t, key, now);
    std::ignore = t.release(); // it may be gone by now
  } catch (...) {
    leave();
    throw;
  }
}

bool background_pool::try_enqueue(owned_task t, task_options options) {
  auto& p = *parts_;
  if (!p.life.enter())
    return false;
  try {
    const auto now = executors::tick_clock::now();
    const auto key = p.key(options, now);
    if (push(*t, key, now) || (remove_cancelled(), push(*t, key, now))) {
      std::ignore = t.release();
      return true;
    }
  } catch (...) {
    leave();
    throw;
  }
  count(p.counts_of(*t).rejected);
  leave();
  return false;
}

void background_pool::enqueue_plain(owned_task t) {
  auto& p = *parts_;
  if (!p.life.enter())
    throw pool_closed{};
  auto& plain = p.counts_of(*t).plain;
  count(plain); // before it can end
  try {
    if (!p.executors.submit({t.get(), &ops_}))
      throw pool_closed{};
    std::ignore = t.release();
  } catch (...) {
    plain.fetch_sub(1, std::memory_order_relaxed);
    leave();
    throw;
  }
}

void background_pool::enqueue_full(detail::task& t, double key, std::uint64_t now) {
  auto& p = *parts_;
  remove_cancelled();
  if (push(t, key, now))
    return;
  switch (p.config.when_full) {
  case full_policy::wait:
  case full_policy::time_out:
    wait_for_room(t, key);
    break;
  case full_policy::reject:
    count(p.counts_of(t).rejected);
    throw queue_full{p.config.max_queued};
  case full_policy::run_in_caller:
    count(p.counts_of(t).run_in_caller);
    run_task(t, nullptr);
    break;
  }
}

// -- the door -----------------------------------------------------------------

void background_pool::wait_for_room(detail::task& t, double key) {
  auto& p = *parts_;
  const auto deadline = p.config.when_full == full_policy::wait
                          ? std::chrono::steady_clock::time_point::max()
                          : executors::deadline_after(p.config.patience);
  door_entry self{t, {}, {}, false};
  {
    std::lock_guard guard{p.door_mutex};
    self.at = p.door.emplace(key, &self);
    p.waiting.store(p.door.size(), std::memory_order_relaxed);
  }
  count(p.waited_for_room);
  // There may have been room since, with nobody to see that this one waits.
  admit_waiting();
  {
    std::lock_guard guard{p.door_mutex};
    if (p.life.closed())
      self.who.wake(); // close() may have looked before
  }
  self.who.wait_until(deadline);
  {
    std::lock_guard guard{p.door_mutex};
    if (self.admitted)
      return;
    p.door.erase(self.at);
    p.waiting.store(p.door.size(), std::memory_order_relaxed);
  }
  if (p.life.closed())
    throw pool_closed{};
  count(p.counts_of(t).timed_out);
  throw queue_full{p.config.max_queued};
}

/// Moves tasks of those who wait into the queue while there is room.
void background_pool::admit_waiting() noexcept {
  auto& p = *parts_;
  std::lock_guard guard{p.door_mutex};
  while (!p.door.empty()) {
    auto& [key, first] = *p.door.begin();
    try {
      if (!push(first->work, key, executors::tick_clock::now()))
        break;
    } catch (const std::bad_alloc&) {
      break; // at the next pop
    }
    auto& admitted = *first;
    p.door.erase(p.door.begin());
    admitted.admitted = true;
    admitted.who.wake();
  }
  p.waiting.store(p.door.size(), std::memory_order_relaxed);
}

/// Makes room by taking out tasks that were cancelled. Searching costs as much as
/// the queue is long, so after a search that found nothing the next ones are
/// skipped: on average a full queue then costs some sixteen looks at a task.
void background_pool::remove_cancelled() noexcept {
  auto& p = *parts_;
  const auto skipped = p.full_unsearched.load(std::memory_order_relaxed);
  if (skipped > 0) {
    p.full_unsearched.store(skipped - 1, std::memory_order_relaxed);
    return;
  }
  const auto removed = p.queue.erase_if([&](detail::task* t) {
    if (t->state() == task_state::queued)
      return false;
    leave_queue(*t);
    count(p.counts_of(*t).cancelled);
    let_go(*t);
    return true;
  });
  if (removed == 0)
    p.full_unsearched.store(p.config.max_queued / 16, std::memory_order_relaxed);
  else if (p.waiting.load(std::memory_order_relaxed) != 0)
    admit_waiting();
}

// -- running ------------------------------------------------------------------

executors::work_item background_pool::take(executors::executor& self) noexcept {
  auto& p = *parts_;
  BASAL_ASSERT(&self.pool() == &p.executors,
               "executors take the background work of their own pool");
  auto t = p.queue.try_pop(p.consumers[self.index()]);
  if (t)
    leave_queue(**t);
  if (p.waiting.load(std::memory_order_relaxed) != 0)
    admit_waiting();
  return t ? executors::work_item{*t, &ops_} : executors::work_item{};
}

bool background_pool::empty() const noexcept {
  return parts_->queue.empty();
}

void background_pool::run_task(detail::task& t, executors::executor* self) noexcept {
  auto& p = *parts_;
  BASAL_ASSERT(&t.host() == this, "a task runs in the pool that it was submitted to");
  if (p.discarding.load(std::memory_order_relaxed)) {
    discard_task(t);
    return;
  }
  auto& counts = p.counts_of(t);
  count(counts.begun);
  const auto start = executors::tick_clock::now();
  const auto outcome = t.run_unless_cancelled(self);
  if (outcome == task_state::done || outcome == task_state::failed) {
    // Signed: counters of different processors may differ a little.
    const auto ticks
      = static_cast<double>(static_cast<std::int64_t>(executors::tick_clock::now() - start));
    p.runtimes.record(t.type(), std::chrono::duration<double>{ticks * p.seconds_a_tick});
    // Counted before it is announced: who waits for it then finds it counted.
    count(outcome == task_state::done ? counts.done : counts.failed);
    t.announce();
  } else {
    counts.begun.fetch_sub(1, std::memory_order_relaxed);
    count(counts.cancelled);
  }
  let_go(t);
}

void background_pool::discard_task(detail::task& t) noexcept {
  auto& p = *parts_;
  BASAL_ASSERT(&t.host() == this, "a task is discarded by the pool that it was submitted to");
  if (t.end_unrun(task_state::discarded)) {
    count(p.counts_of(t).discarded);
    t.announce();
  } else {
    count(p.counts_of(t).cancelled);
  }
  let_go(t);
}

/// All is done with `t`.
void background_pool::let_go(detail::task& t) noexcept {
  t.release();
  leave();
}

void background_pool::leave() noexcept {
  if (parts_->life.leave())
    parts_->all_ended.set();
}

// -- the end ------------------------------------------------------------------

void background_pool::close() noexcept {
  auto& p = *parts_;
  if (p.life.close())
    p.all_ended.set();
  std::lock_guard guard{p.door_mutex};
  for (auto& [key, entry] : p.door)
    entry->who.wake();
}

std::size_t background_pool::discard_queued() noexcept {
  auto& p = *parts_;
  parts::queue_type::consumer everything{p.queue, 0};
  std::size_t discarded = 0;
  while (auto t = p.queue.try_pop(everything)) {
    leave_queue(**t);
    discard_task(**t);
    ++discarded;
  }
  return discarded;
}

shutdown_report background_pool::shutdown(executors::stop_mode mode,
                                          std::chrono::nanoseconds patience) {
  auto& p = *parts_;
  const auto deadline = executors::deadline_after(patience);
  shutdown_report report;
  close();
  auto discard = [&] {
    p.discarding.store(true, std::memory_order_relaxed);
    report.discarded += discard_queued();
  };
  if (mode == executors::stop_mode::discard)
    discard();
  if (!p.all_ended.wait_until(deadline))
    discard();
  report.unfinished = static_cast<std::size_t>(p.life.inside());
  report.complete = report.unfinished == 0;
  return report;
}

void background_pool::abandon() noexcept {
  auto& p = *parts_;
  p.discarding.store(true, std::memory_order_relaxed);
  // Submitters may still be inside for a few instructions.
  for (; p.life.inside() != 0; std::this_thread::yield())
    discard_queued();
}

// -- observers ----------------------------------------------------------------

std::size_t background_pool::queued() const noexcept {
  return parts_->queue.size();
}

runtime_tracker& background_pool::runtimes() noexcept {
  return parts_->runtimes;
}

const background_config& background_pool::config() const noexcept {
  return parts_->config;
}

executors::executor_pool& background_pool::executors() const noexcept {
  return parts_->executors;
}

background_stats background_pool::stats() const {
  auto get = [](const auto& c) { return c.load(std::memory_order_relaxed); };
  const auto& p = *parts_;
  background_stats s;
  const auto now = executors::tick_clock::now();
  for (std::size_t i = 0; i < s.levels.size(); ++i) {
    const auto& counts = p.levels[i];
    auto& x = s.levels[i];
    // Ends before beginnings, so that a difference is never negative.
    x.done = get(counts.done);
    x.failed = get(counts.failed);
    x.cancelled = get(counts.cancelled);
    x.discarded = get(counts.discarded);
    x.running_now = static_cast<std::size_t>(get(counts.begun) - x.done - x.failed);
    x.rejected = get(counts.rejected);
    x.timed_out = get(counts.timed_out);
    const auto plain = get(counts.plain);
    const auto run_in_caller = get(counts.run_in_caller);
    x.submitted = get(counts.queued) + plain + run_in_caller;
    x.queued_now = static_cast<std::size_t>(counts.waiting.waiting());
    x.oldest = executors::tick_clock::to_duration(counts.waiting.oldest(now));
    s.done += x.done;
    s.failed += x.failed;
    s.cancelled += x.cancelled;
    s.discarded += x.discarded;
    s.running_now += x.running_now;
    s.rejected += x.rejected;
    s.timed_out += x.timed_out;
    s.submitted += x.submitted;
    s.queued_now += x.queued_now;
    s.plain += plain;
    s.run_in_caller += run_in_caller;
  }
  s.waited_for_room = get(p.waited_for_room);
  s.evaluations_now = get(p.evaluations);
  s.runtimes = p.runtimes.stats();
  return s;
}

} // namespace basal::priority
