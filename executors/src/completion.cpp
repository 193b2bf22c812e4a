#include <basal/executors/completion.hpp>

#include <basal/executors/executor.hpp>
#include <basal/executors/parker.hpp>

namespace basal::executors {

bool completion::start_waiting() noexcept {
  auto expected = pending;
  return state_.compare_exchange_strong(expected, waiting, std::memory_order_acq_rel,
                                        std::memory_order_acquire);
}

void completion::wait() noexcept {
  if (is_set())
    return;
  auto* self = executor::current();
  if (self != nullptr && self->suspend([this](fiber& waiter) noexcept {
        fiber_ = &waiter;
        if (!start_waiting())
          executor::wake(waiter); // set() came first and knows of no waiter
      }))
    return;
  // A plain thread; or an executor that has no memory for another stack, which
  // then does nothing else until the event.
  parker sleeper;
  parker_ = &sleeper;
  if (start_waiting())
    sleeper.park();
}

void completion::set() noexcept {
  // Acquire: the waiter's choice of fiber_ or parker_. Release: the result.
  if (state_.exchange(set_value, std::memory_order_acq_rel) != waiting)
    return; // nobody sleeps; `this` may be gone
  // The waiter sleeps until one of these two, so both pointers are valid.
  if (fiber_ != nullptr)
    executor::wake(*fiber_);
  else
    parker_->unpark();
}

} // namespace basal::executors
