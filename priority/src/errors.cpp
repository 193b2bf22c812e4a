#include <basal/priority/errors.hpp>

#include <string>

namespace basal::priority {

task_cancelled::task_cancelled()
  : std::runtime_error("basal: the task was cancelled before it began") {
}

task_discarded::task_discarded()
  : std::runtime_error("basal: the task had not begun when its pool was shut down") {
}

pool_closed::pool_closed()
  : std::runtime_error("basal: the background pool was shut down and takes no more tasks") {
}

queue_full::queue_full(std::size_t limit)
  : std::runtime_error("basal: " + std::to_string(limit)
                       + " background tasks are queued, as many as max_queued allows; submit "
                         "fewer, raise it, or choose another full_policy") {
}

} // namespace basal::priority
