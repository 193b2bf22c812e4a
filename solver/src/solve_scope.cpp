#include <basal/solver/solve_scope.hpp>

#include <basal/executors/executor.hpp>

namespace basal::solver {

namespace {

thread_local solve_scope* thread_scopes = nullptr;

/// Not inlined, so that no compiler carries the address across a fiber switch.
[[gnu::noinline]] solve_scope*& scopes() noexcept {
  return thread_scopes;
}

/// The running fiber; null on a plain thread.
const void* current_fiber() noexcept {
  auto* self = executors::executor::current();
  return self == nullptr ? nullptr : &self->running();
}

} // namespace

solve_scope::solve_scope() noexcept : fiber_(current_fiber()) {
  auto*& first = scopes();
  next_ = first;
  if (next_ != nullptr)
    next_->previous_ = this;
  first = this;
}

solve_scope::~solve_scope() {
  (previous_ != nullptr ? previous_->next_ : scopes()) = next_;
  if (next_ != nullptr)
    next_->previous_ = previous_;
}

bool solve_scope::active() noexcept {
  const auto* fiber = current_fiber();
  for (const auto* scope = scopes(); scope != nullptr; scope = scope->next_)
    if (scope->fiber_ == fiber)
      return true;
  return false;
}

} // namespace basal::solver
