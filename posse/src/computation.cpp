#include <basal/posse/detail/computation.hpp>

#include <algorithm>
#include <chrono>
#include <new>

#include <basal/executors/detail/collector.hpp>
#include <basal/executors/executor.hpp>
#include <basal/executors/executor_pool.hpp>
#include <basal/posse/runtime.hpp>

namespace basal::posse::detail {

cancel_reason computation::why_cancelled(bool quantum_ended) noexcept {
  if (host.is_cancelled())
    return cancel_reason::runtime_stops;
  auto why = cancelled_.load(std::memory_order_relaxed);
  if (why != cancel_reason::none || options_ == nullptr)
    return why;
  if (options_->stop.stop_requested())
    why = cancel_reason::stop_requested;
  else if (options_->deadline != std::chrono::steady_clock::time_point::max()
           && std::chrono::steady_clock::now() >= options_->deadline)
    why = cancel_reason::deadline;
  else if (quantum_ended && options_->probe.asks_to_end != nullptr
           && !probing_.test_and_set(std::memory_order_acquire)) {
    if (options_->probe.asks_to_end(options_->probe.context))
      why = cancel_reason::owner_killed;
    probing_.clear(std::memory_order_release);
  }
  if (why == cancel_reason::none)
    return why;
  cancelled_.store(why, std::memory_order_relaxed);
  std::lock_guard guard{mutex_};
  for (auto* c = contexts_.get(); c != nullptr; c = c->next.get())
    c->where->raise_attention();
  return why;
}

void computation::expect_not_cancelled() {
  if (auto why = why_cancelled(false); why != cancel_reason::none)
    throw cancelled{why};
}

std::size_t computation::memory_limit() const noexcept {
  auto limit = options_ != nullptr ? options_->memory_limit : 0;
  if (limit == 0)
    limit = host.config().memory_limit;
  return limit != 0 ? limit : memory_context::unlimited;
}

std::size_t computation::bytes_to_begin_with(std::size_t lineage_bytes) const noexcept {
  auto limit = memory_limit();
  return limit == memory_context::unlimited ? limit : lineage_bytes + limit / 16;
}

std::size_t computation::cabal_limit() const noexcept {
  auto limit = options_ != nullptr ? options_->cabal_limit : 0;
  if (limit == 0)
    limit = host.config().cabal_limit;
  return limit != 0 ? limit : static_cast<std::size_t>(-1);
}

void computation::count_collected() noexcept {
  const auto* hooks = executors::collector.load(std::memory_order_acquire);
  if (hooks == nullptr)
    return;
  BASAL_ASSERT(!counts_collected_, "what a computation keeps is counted from one moment on");
  of_others_ = hooks->used_bytes();
  counts_collected_ = true;
}

void computation::recount_collected() {
  // One collection is enough for all members of all computations that come here.
  static std::mutex one_at_a_time;
  std::lock_guard guard{one_at_a_time};
  const auto limit = memory_limit() * std::max<std::size_t>(1, cabal_size());
  auto known = collected_.load(std::memory_order_relaxed);
  if (known <= limit)
    return;
  const auto used = executors::collector.load(std::memory_order_acquire)->collect();
  const auto grown = used - std::min(used, of_others_);
  // Others count on while this is lowered; what they add stays.
  const auto kept = std::min(known, grown);
  collected_.fetch_sub(known - kept, std::memory_order_relaxed);
  of_others_ = used - kept;
  note_use(kept / std::max<std::size_t>(1, cabal_size()));
  // Or it would soon collect again and again.
  if (kept > limit - limit / 16)
    throw_over_limit("what it keeps in the collected heap");
}

void computation::throw_over_limit(const std::string& what) {
  throw memory_limit_exceeded("basal: " + std::string{name()} + ": " + what
                              + " would exceed its memory limit of "
                              + std::to_string(memory_limit())
                              + " bytes on one executor; raise memory_limit of the call or of the "
                                "runtime, or let it keep less at a time");
}

void computation::note_use(std::size_t bytes) noexcept {
  if (bytes > memory_limit() / 5 * 4 && !near_limit_.load(std::memory_order_relaxed)
      && !near_limit_.exchange(true, std::memory_order_relaxed))
    host.note_near_limit();
}

memory_context* computation::find_locked(const executors::executor& where) const noexcept {
  auto* c = contexts_.get();
  while (c != nullptr && c->where != &where)
    c = c->next.get();
  return c;
}

memory_context* computation::join(executors::executor& where) noexcept {
  BASAL_ASSERT(executors::executor::current() == &where, "an executor joins by itself");
  std::lock_guard guard{mutex_};
  if (auto* known = find_locked(where))
    return known;
  std::unique_ptr<memory_context> added{new (std::nothrow) memory_context{*this, where}};
  if (added == nullptr)
    return nullptr;
  added->next = std::move(contexts_);
  contexts_ = std::move(added);
  ++cabal_size_;
  return contexts_.get();
}

computation::target computation::claim_target(executors::executor& from, std::size_t lineage_bytes,
                                              bool may_wake) noexcept {
  auto& pool = host.compute();
  target result;
  const auto others_may = host.num_available() > 0;
  // Where a thread calls that is none of these, the last ones stay idle in its stead.
  const auto next = &from.pool() == &pool ? from.index() + 1 : 0;
  std::lock_guard guard{mutex_};
  std::unique_ptr<memory_context> added;
  const bool is_done = host.visit_open_hatches(from, [&](auto& where, hatch& open) {
    return claim_locked(where, &open, lineage_bytes, result, added);
  });
  if (is_done)
    return result;
  for (bool awake : {true, false}) {
    if (!awake && !may_wake)
      break;
    result.was_awake = awake;
    if (caller != nullptr && caller != &from && caller->pool().is_idle(caller->index())
        && caller->pool().is_looking(caller->index()) == awake
        && claim_locked(*caller, nullptr, lineage_bytes, result, added))
      return result;
    for (std::size_t i = 0; others_may && i < pool.size(); ++i) {
      auto& where = pool.at((next + i) % pool.size());
      if (&where != &from && pool.is_idle(where.index()) && pool.is_looking(where.index()) == awake
          && claim_locked(where, nullptr, lineage_bytes, result, added))
        return result;
    }
  }
  return result;
}

bool computation::anybody_idle(const executors::executor& self) const noexcept {
  if (host.any_hatch_open(self) || host.num_available() > 0)
    return true;
  return caller != nullptr && caller != &self && caller->pool().is_idle(caller->index());
}

/// @param open  the hatch at which `where` waits; null: it is in the idle set
/// @param added made before anybody is claimed, because a claimed executor must get
///              something; kept for the next attempt
/// @returns whether `where` was claimed; else `result` says why not
bool computation::claim_locked(executors::executor& where, hatch* open, std::size_t lineage_bytes,
                               target& result, std::unique_ptr<memory_context>& added) noexcept {
  auto* known = find_locked(where);
  if (known == nullptr && cabal_size_ >= cabal_limit()) {
    result.why_not = theft_verdict::cabal_full;
    return false;
  }
  if (known != nullptr && has_memory_limit()
      && known->bytes() > bytes_to_begin_with(lineage_bytes)) {
    result.why_not = theft_verdict::no_room;
    return false;
  }
  if (known == nullptr && added == nullptr) {
    added.reset(new (std::nothrow) memory_context{*this, where});
    if (added == nullptr) {
      result.why_not = theft_verdict::out_of_memory;
      return false;
    }
  }
  if (open != nullptr ? !open->claim() : !where.pool().claim_idle(where.index()))
    return false;
  if (open != nullptr)
    result.was_awake = true;
  result.open = open;
  if (known == nullptr) {
    added->where = &where;
    added->next = std::move(contexts_);
    contexts_ = std::move(added);
    ++cabal_size_;
    known = contexts_.get();
  }
  result.context = known;
  return true;
}

std::size_t computation::cabal_size() const noexcept {
  std::lock_guard guard{mutex_};
  return cabal_size_;
}

void computation::leave_contexts() noexcept {
  std::size_t most = 0;
  for (auto* c = contexts_.get(); c != nullptr; c = c->next.get()) {
    BASAL_ASSERT(c->heap_bytes() == 0, "memory of a computation is given back before its end");
    BASAL_ASSERT(c->oldest == nullptr, "members end before their computation");
    BASAL_ASSERT(c->expected.load(std::memory_order_relaxed) == 0,
                 "what is sent to an executor arrives before the computation's end");
    most = std::max(most, c->most_bytes());
  }
  note_use(most);
  host.note_memory(most, cabal_size_);
  while (contexts_ != nullptr) // not by recursion
    contexts_ = std::move(contexts_->next);
}

} // namespace basal::posse::detail
