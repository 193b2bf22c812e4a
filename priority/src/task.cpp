#include <basal/priority/detail/task.hpp>

#include <basal/executors/detail/assert.hpp>
#include <basal/priority/errors.hpp>

namespace basal::priority::detail {

task_state task::run() noexcept {
  if (!word_.claim(task_state::running))
    return word_.get();
  auto outcome = task_state::done;
  try {
    invoke();
  } catch (...) {
    error_ = std::current_exception();
    outcome = task_state::failed;
  }
  forget();
  word_.finish(outcome);
  return outcome;
}

bool task::end_unrun(task_state how) noexcept {
  if (!word_.claim(how))
    return false;
  forget();
  return true;
}

void task::rethrow() const {
  switch (state()) {
  case task_state::done:
    return;
  case task_state::failed:
    std::rethrow_exception(error_);
  case task_state::cancelled:
    throw task_cancelled{};
  case task_state::discarded:
    throw task_discarded{};
  case task_state::queued:
  case task_state::running:
    break;
  }
  BASAL_ASSERT(!"a task that has not ended has nothing to throw");
}

} // namespace basal::priority::detail
