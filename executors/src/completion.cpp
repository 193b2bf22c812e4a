#include <basal/executors/completion.hpp>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/parker.hpp>
#include <basal/executors/executor.hpp>

namespace basal::executors {

void completion::wait() noexcept {
  if (is_set())
    return;
  BASAL_ASSERT(fiber_ == nullptr && parker_ == nullptr, "one party waits for a completion");
  auto* self = executor::current();
  if (self != nullptr && self->suspend([this](fiber& waiter) noexcept {
        fiber_ = &waiter;
        if (!state_.start_waiting())
          executor::wake(waiter); // set() came first and knows of no waiter
      }))
    return;
  // A plain thread; or an executor that has no memory for another stack, which
  // then does nothing else until the event.
  parker sleeper;
  parker_ = &sleeper;
  if (state_.start_waiting())
    sleeper.park();
}

void completion::set() noexcept {
  if (!state_.set())
    return; // nobody sleeps; `this` may be gone
  // The waiter sleeps until one of these two, so both pointers are valid.
  if (fiber_ != nullptr)
    executor::wake(*fiber_);
  else
    parker_->unpark();
}

} // namespace basal::executors
