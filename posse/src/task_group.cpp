#include <basal/posse/task_group.hpp>

#include <stdexcept>

namespace basal::posse::detail {

void refuse_foreign_group() {
  throw std::logic_error{
    "basal: a task group belongs to the body of its scope, and was used by "
    "one of its tasks or by a branch; a task that spawns takes a group of its own: "
    "tasks.spawn([&](basal::posse::task_group& own) { own.spawn(...); })"};
}

} // namespace basal::posse::detail
