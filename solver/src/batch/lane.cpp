#include "lane.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/tick_clock.hpp>
#include <basal/executors/executor.hpp>
#include <basal/executors/executor_pool.hpp>

namespace basal::solver {

const executors::work_ops lane::ops{
  [](void* object, executors::executor& self) noexcept { static_cast<lane*>(object)->run(&self); },
  [](void* object) noexcept {
    auto& l = *static_cast<lane*>(object);
    // The pool discards what has not begun. Closing the gate first keeps those who
    // wait for this lane's permit from being discarded within one another.
    l.owner_.shared().stopping.store(true, std::memory_order_relaxed);
    l.owner_.shared().gate.close();
    l.run(nullptr);
  },
};

void lane::schedule() noexcept {
  auto* pool = owner_.shared().pool;
  if (pool == nullptr)
    parked_->set();
  else if (!pool->submit({this, &ops}))
    ops.discard(this);
}

void lane::run_here() noexcept {
  for (;;) {
    parked_.emplace();
    if (run(executors::executor::current()) == ended::yes)
      return;
    parked_->wait();
  }
}

void lane::stop_waiting() noexcept {
  if (owner_.shared().gate.withdraw(*this)) {
    refused_ = refusal::cancelled;
    schedule();
  }
}

void lane::answered(permits::verdict v) noexcept {
  switch (v) {
  case permits::verdict::granted:
    has_permit_ = true;
    break;
  case permits::verdict::timed_out:
    refused_ = refusal::timed_out;
    break;
  case permits::verdict::closed:
    refused_ = refusal::stopped;
    break;
  }
  schedule();
}

/// Does units until there are none left, or until it has to wait for a permit.
lane::ended lane::run(executors::executor* self) noexcept {
  self_ = self;
  turn_start_ = executors::tick_clock::now();
  while (next_unit()) {
    if (!refused_)
      refused_ = owner_.stop_reason();
    if (!refused_ && !has_permit_ && !get_permit())
      return ended::no; // and may already run elsewhere
    // The time it waited may have been long.
    if (!refused_)
      refused_ = owner_.stop_reason();
    if (refused_)
      owner_.refuse_unit(*unit_, *refused_);
    else
      owner_.run_unit(*unit_, *this);
    unit_.reset();
    refused_.reset();
    const bool yields = turn_is_over();
    // One permit a solve: others who wait come before this lane's next unit.
    if (yields || owner_.shared().gate.anyone_waits())
      give_back();
    if (yields)
      yield();
  }
  give_back();
  owner_.lane_ended(); // `this` may be gone from here on
  return ended::yes;
}

bool lane::next_unit() noexcept {
  if (!unit_)
    unit_ = units.take();
  if (!unit_)
    unit_ = owner_.steal_for(*this);
  return unit_.has_value();
}

/// @returns false if it is queued, and then maybe gone; else it has a permit or is refused.
bool lane::get_permit() noexcept {
  auto& shared = owner_.shared();
  if (shared.gate.try_acquire()) {
    has_permit_ = true;
    return true;
  }
  shared.events.publish({.kind = event_kind::concurrency_limit_reached,
                         .count = shared.gate.in_use(),
                         .limit = shared.gate.total()});
  switch (shared.gate.acquire(*this, owner_.stop_token())) {
  case permits::answer::granted:
    has_permit_ = true;
    return true;
  case permits::answer::queued:
    return false;
  case permits::answer::rejected:
    break;
  }
  auto why = owner_.stop_reason();
  refused_ = why ? why : refusal::too_busy;
  return true;
}

bool lane::look() noexcept {
  if (turn_is_over())
    yield();
  return !owner_.stop_reason();
}

/// Whether other work of its executor waits, and has waited long enough.
bool lane::turn_is_over() const noexcept {
  if (self_ == nullptr || !self_->work_waits())
    return false;
  // The pool's own turn is about twice as long; solves of a few microseconds should
  // not change fibers after each.
  static const auto turn = executors::tick_clock::to_ticks(std::chrono::microseconds{100});
  return executors::tick_clock::now() - turn_start_ >= turn;
}

void lane::yield() noexcept {
  BASAL_ASSERT(self_ != nullptr, "a lane yields on an executor");
  self_->yield();
  turn_start_ = executors::tick_clock::now();
}

std::optional<std::span<std::byte>> lane::scratch(std::size_t bytes) noexcept {
  BASAL_ASSERT(has_permit_, "memory is for a unit that has its permit");
  const auto block = scratch_pool::block_bytes(bytes);
  if (scratch_.bytes().size() != block) {
    scratch_ = {}; // first, as it counts against the limit
    auto lease = owner_.shared().scratch.acquire(block);
    if (!lease)
      return std::nullopt;
    scratch_ = std::move(*lease);
  }
  return scratch_.bytes().first(bytes);
}

void lane::give_back() noexcept {
  scratch_ = {};
  if (std::exchange(has_permit_, false))
    owner_.shared().gate.release();
}

job::job(batch_solver::core& shared, std::stop_token stop)
  : shared_(shared), stop_(std::move(stop)) {
}

job::~job() {
  BASAL_ASSERT(alive_.load(std::memory_order_relaxed) == 0, "a job goes after its lanes");
}

void job::start(std::uint32_t units) {
  BASAL_ASSERT(lanes_.empty(), "a job starts once");
  auto width = shared_.pool == nullptr ? 1 : shared_.pool->size();
  auto count = std::min<std::size_t>({width, shared_.limits.concurrent_solves, units});
  count = std::max<std::size_t>(count, 1); // it ends the job of no units
  for (std::size_t i = 0; i < count; ++i) {
    lanes_.emplace_back(*this);
    auto share = [&](std::size_t n) { return static_cast<std::uint32_t>(units * n / count); };
    lanes_[i].units.refill({share(i), share(i + 1)});
  }
  // One more than there are lanes: `this` stays until all of them are started.
  alive_.store(count + 1, std::memory_order_relaxed);
  shared_.job_begins();
  if (stop_.stop_possible())
    on_stop_.emplace(stop_, [this] { withdraw_lanes(); });
  for (auto& l : lanes_) {
    if (shared_.pool == nullptr)
      l.run_here();
    else
      l.schedule();
  }
  lane_ended();
}

std::optional<refusal> job::stop_reason() const noexcept {
  if (stop_.stop_requested())
    return refusal::cancelled;
  if (shared_.stopping.load(std::memory_order_relaxed))
    return refusal::stopped;
  return std::nullopt;
}

std::optional<std::uint32_t> job::steal_for(lane& thief) noexcept {
  // From the fullest, as far as can be seen; others may be quicker, so until all are empty.
  for (;;) {
    auto* victim = &lanes_.front();
    for (auto& l : lanes_)
      if (l.units.size() > victim->units.size())
        victim = &l;
    if (victim->units.size() == 0)
      return std::nullopt;
    if (auto loot = victim->units.steal(); !loot.empty()) {
      thief.units.refill({loot.begin + 1, loot.end});
      return loot.begin;
    }
  }
}

void job::lane_ended() noexcept {
  const auto before = alive_.fetch_sub(1, std::memory_order_acq_rel);
  BASAL_ASSERT(before > 0, "a lane ends once");
  if (before != 1)
    return;
  auto& shared = shared_;
  on_stop_.reset(); // waits if it runs on another thread
  finish();
  delete this;
  shared.job_ends();
}

/// When the stop token is used. Counts as alive meanwhile: without a pool, or with one
/// that has stopped, a lane ends inside stop_waiting(), and the job with the last one.
void job::withdraw_lanes() noexcept {
  auto alive = alive_.load(std::memory_order_relaxed);
  do {
    if (alive == 0)
      return;
  } while (!alive_.compare_exchange_weak(alive, alive + 1, std::memory_order_relaxed));
  for (auto& l : lanes_)
    l.stop_waiting();
  lane_ended();
}

} // namespace basal::solver
