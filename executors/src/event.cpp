#include <basal/executors/event.hpp>

#include <array>
#include <cstddef>
#include <exception>
#include <mutex>

#include "alarm.hpp"

namespace basal::executors {

using clock = std::chrono::steady_clock;

void waiter::wait_until(clock::time_point deadline) noexcept {
  if (deadline == clock::time_point::max()) {
    done_.wait();
    return;
  }
  try {
    auto& a = alarm::instance();
    alarm::setting mine{[](void* who) noexcept { static_cast<waiter*>(who)->wake(); }, this};
    a.add(mine, deadline);
    done_.wait();
    a.remove(mine);
  } catch (const std::exception&) {
    // Neither memory nor a thread: what cannot wait with a deadline does not
    // wait. Claimed, so that nobody touches this once it is gone.
    wake();
    done_.wait();
  }
}

/// A waiter in an event's list.
struct event::node {
  waiter who;
  node* next = nullptr;
  node* previous = nullptr;
};

namespace {

/// The lists of all events are behind a few locks, by address, as in WebKit's
/// parking lot: events are many, and those with waiters few.
std::mutex& lock_of(const void* address) noexcept {
  static std::array<std::mutex, 16> locks;
  return locks[reinterpret_cast<std::uintptr_t>(address) / 64 % locks.size()];
}

} // namespace

void event::set() noexcept {
  const auto before = word_.fetch_or(set_bit, std::memory_order_acq_rel);
  if ((before & set_bit) != 0 || (before & waiters_bit) == 0)
    return;
  std::lock_guard guard{lock_of(this)};
  // Under the lock: a waiter takes itself out of the list before it goes.
  for (auto* n = first_; n != nullptr; n = n->next)
    n->who.wake();
}

bool event::wait_until(clock::time_point deadline) noexcept {
  if (is_set())
    return true;
  if (deadline <= clock::now())
    return false;
  node self;
  {
    std::lock_guard guard{lock_of(this)};
    if ((word_.fetch_or(waiters_bit, std::memory_order_acq_rel) & set_bit) != 0)
      return true;
    self.next = first_;
    if (first_ != nullptr)
      first_->previous = &self;
    first_ = &self;
  }
  self.who.wait_until(deadline);
  std::lock_guard guard{lock_of(this)};
  if (self.next != nullptr)
    self.next->previous = self.previous;
  (self.previous != nullptr ? self.previous->next : first_) = self.next;
  return is_set();
}

} // namespace basal::executors
