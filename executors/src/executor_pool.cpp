#include <basal/executors/executor_pool.hpp>

#include <exception>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <utility>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/tick_clock.hpp>

#include "backstop.hpp"

namespace basal::executors {

namespace {

pool_config validated(pool_config config) {
  config.validate();
  return config;
}

} // namespace

executor_pool::executor_pool(pool_config config)
  : config_(validated(std::move(config))),
    spins_(usable_cpus() > 1 ? config_.spins : 0),
    turn_ticks_(tick_clock::to_ticks(config_.turn)),
    stacks_(config_.stack_bytes),
    idle_(config_.executors) {
  tick_clock::per_nanosecond(); // measured here, not in the first task
  executors_.reserve(config_.executors);
  threads_.reserve(config_.executors);
  for (std::size_t i = 0; i < config_.executors; ++i)
    executors_.push_back(std::make_unique<executor>(*this, i));
  backstop_ = std::make_unique<backstop>(*this);
  try {
    for (auto& e : executors_) {
      // The first stack now, where running out of memory can be reported.
      e->spares_ = &fiber::create(*e, stacks_);
      threads_.emplace_back([&self = *e] { self.thread_main(); });
      auto name = config_.name + std::to_string(e->index());
      pthread_setname_np(threads_.back().native_handle(), name.substr(0, 15).c_str());
    }
  } catch (...) {
    stop(stop_mode::discard);
    for (auto& e : executors_) // of those whose thread never ran
      if (e->spares_ != nullptr)
        fiber::destroy(*e->spares_, stacks_);
    throw;
  }
}

executor_pool::~executor_pool() {
  stop(stop_mode::discard);
}

bool executor_pool::submit(work_item item) {
  auto* self = executor::current();
  if (self != nullptr && &self->pool() == this) {
    if (stopping_.load(std::memory_order_relaxed))
      return false;
    self->push_newest(item);
    return true;
  }
  visit here{*this};
  if (!injection_.push(item))
    return false;
  notify();
  return true;
}

background_source& executor_pool::adopt_background(std::unique_ptr<background_source> source) {
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
  visit here{*this};
  claimed.inbox_.push(node);
  idle_.wake_claimed(claimed.index());
}

/// Whether there is work that any executor may take and that nobody is
/// responsible for. While somebody searches, the rings are its business: it
/// asks again when it stops.
bool executor_pool::work_for_searchers() const noexcept {
  if (!injection_.empty() || background_waits())
    return true;
  if (idle_.num_searching() != 0)
    return false;
  for (const auto& e : executors_)
    if (!e->ring_.empty())
      return true;
  return false;
}

void executor_pool::stop(stop_mode mode) {
  if (auto* self = executor::current(); self != nullptr && &self->pool() == this)
    detail::assertion_failed("a pool must not be stopped by one of its own executors", __FILE__,
                             __LINE__);
  std::lock_guard guard{stop_mutex_};
  if (threads_.empty())
    return;
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
  idle_.wake_all();
  for (auto& t : threads_)
    t.join();
  threads_.clear();
  // Overflow of an executor's ring may have come after the others had left.
  while (auto item = injection_.pop())
    if (item.ops->discard != nullptr)
      item.ops->discard(item.object);
  while (visitors_.load(std::memory_order_acquire) != 0)
    std::this_thread::yield(); // a few instructions of somebody's
  if (owned_background_)
    owned_background_->abandon();
}

} // namespace basal::executors
