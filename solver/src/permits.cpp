#include <basal/solver/detail/permits.hpp>

#include <utility>

#include <basal/executors/detail/assert.hpp>

namespace basal::solver {

permits::permits(const solver_limits& limits)
  : total_(limits.concurrent_solves),
    policy_(limits.backpressure),
    patience_(limits.patience),
    free_(limits.concurrent_solves) {
  if (policy_ == backpressure::wait_timeout)
    timer_ = std::thread{[this] { expire(); }};
}

permits::~permits() {
  {
    std::lock_guard guard{mutex_};
    BASAL_ASSERT(first_ == nullptr, "nobody waits for permits that go");
    stop_timer_ = true;
  }
  timer_wakes_.notify_one();
  if (timer_.joinable())
    timer_.join();
}

bool permits::try_acquire() noexcept {
  std::lock_guard guard{mutex_};
  if (free_ == 0 || closed_) // nobody is queued while one is free
    return false;
  --free_;
  return true;
}

permits::answer permits::acquire(waiter& who, const std::stop_token& stop) noexcept {
  {
    std::lock_guard guard{mutex_};
    if (closed_)
      return answer::rejected;
    if (free_ > 0) {
      --free_;
      return answer::granted;
    }
    if (policy_ == backpressure::reject || stop.stop_requested())
      return answer::rejected;
    if (policy_ == backpressure::wait_timeout)
      who.deadline_ = std::chrono::steady_clock::now() + patience_;
    push_locked(who);
    if (policy_ == backpressure::wait || first_ != &who)
      return answer::queued;
  }
  // The timer slept without a time limit. `who` may be gone by now.
  timer_wakes_.notify_one();
  return answer::queued;
}

void permits::release() noexcept {
  std::unique_lock guard{mutex_};
  auto* next = first_;
  if (next == nullptr) {
    ++free_;
    BASAL_ASSERT(free_ <= total_, "no more permits are given back than were taken");
    return;
  }
  remove_locked(*next);
  guard.unlock();
  next->answered(verdict::granted);
}

bool permits::withdraw(waiter& who) noexcept {
  std::lock_guard guard{mutex_};
  if (!who.queued_)
    return false;
  remove_locked(who);
  return true;
}

void permits::close() noexcept {
  std::unique_lock guard{mutex_};
  closed_ = true;
  // Answers may close again. Whoever is at it answers all, not one within another.
  if (std::exchange(closing_, true))
    return;
  while (auto* next = first_) {
    remove_locked(*next);
    guard.unlock();
    next->answered(verdict::closed);
    guard.lock();
  }
  closing_ = false;
}

std::size_t permits::in_use() const noexcept {
  std::lock_guard guard{mutex_};
  return total_ - free_;
}

void permits::push_locked(waiter& who) noexcept {
  BASAL_ASSERT(!who.queued_, "nobody queues twice for a permit");
  who.previous_ = last_;
  who.next_ = nullptr;
  who.queued_ = true;
  (last_ != nullptr ? last_->next_ : first_) = &who;
  last_ = &who;
  anyone_waits_.store(true, std::memory_order_relaxed);
}

void permits::remove_locked(waiter& who) noexcept {
  BASAL_ASSERT(who.queued_, "somebody who leaves the queue was in it");
  (who.previous_ != nullptr ? who.previous_->next_ : first_) = who.next_;
  (who.next_ != nullptr ? who.next_->previous_ : last_) = who.previous_;
  who.queued_ = false;
  anyone_waits_.store(first_ != nullptr, std::memory_order_relaxed);
}

/// The timer's thread.
void permits::expire() {
  std::unique_lock guard{mutex_};
  while (!stop_timer_) {
    if (first_ == nullptr) {
      timer_wakes_.wait(guard);
    } else if (auto deadline = first_->deadline_; std::chrono::steady_clock::now() < deadline) {
      timer_wakes_.wait_until(guard, deadline);
    } else {
      auto* late = first_;
      remove_locked(*late);
      guard.unlock();
      late->answered(verdict::timed_out);
      guard.lock();
    }
  }
}

} // namespace basal::solver
