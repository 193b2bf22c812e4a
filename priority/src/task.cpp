#include <basal/priority/detail/task.hpp>

#include <basal/executors/detail/assert.hpp>
#include <basal/priority/errors.hpp>

namespace basal::priority::detail {

task_state task::run_unless_cancelled(executors::executor* self) noexcept {
  if (!word_.claim(task_state::running))
    return word_.get();
  const auto outcome = run(self) ? task_state::done : task_state::failed;
  word_.finish(outcome);
  return outcome;
}

bool task::end_unrun(task_state how) noexcept {
  BASAL_ASSERT(how == task_state::cancelled || how == task_state::discarded,
               "a task that did not run was cancelled or discarded");
  if (!word_.claim(how))
    return false;
  forget();
  return true;
}

void task::expect_run() const {
  switch (state()) {
  case task_state::done:
  case task_state::failed:
    return;
  case task_state::cancelled:
    throw task_cancelled{};
  case task_state::discarded:
    throw task_discarded{};
  case task_state::queued:
  case task_state::running:
    break;
  }
  BASAL_ASSERT(false, "a task that has not ended has no outcome");
}

} // namespace basal::priority::detail
