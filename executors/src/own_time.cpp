#include <basal/executors/detail/own_time.hpp>

#include "thread_usage.hpp"

namespace basal::executors {

cpu_use cpu_use::of_this_thread(std::int64_t wall_ns) noexcept {
  const auto used = thread_usage();
  return {
    .wall_ns = wall_ns,
    .cpu_ns = thread_cpu_ns(),
    .times_waited = used.ru_nvcsw,
    .times_preempted = used.ru_nivcsw,
  };
}

} // namespace basal::executors
