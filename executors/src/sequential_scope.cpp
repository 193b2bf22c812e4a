#include <basal/executors/sequential_scope.hpp>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/executor.hpp>

namespace basal::executors {

namespace {

thread_local const void* outermost_of_thread = nullptr;

/// Of the running fiber or, on a plain thread, of the thread. Not inlined, so that
/// no compiler carries a thread-local's address across a fiber switch.
[[gnu::noinline]] const void*& outermost() noexcept {
  auto* self = executor::current();
  return self != nullptr ? self->running().sequential() : outermost_of_thread;
}

} // namespace

sequential_scope::sequential_scope() noexcept {
  auto& note = outermost();
  noted_ = note == nullptr ? &note : nullptr;
  if (noted_ != nullptr)
    note = this;
}

sequential_scope::~sequential_scope() {
  if (noted_ == nullptr)
    return;
  BASAL_ASSERT(noted_ == &outermost() && *noted_ == this,
               "a sequential scope ends where it began, as a local variable does");
  *noted_ = nullptr;
}

bool sequential_scope::active() noexcept {
  return outermost() != nullptr;
}

} // namespace basal::executors
