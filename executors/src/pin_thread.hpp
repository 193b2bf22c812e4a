#pragma once

#include <pthread.h>

namespace basal::executors {

/// Lets `thread` run on CPU `cpu` only.
/// @throws std::system_error when the kernel refuses, e.g. since the CPU is not
///         in the process's cgroup any more
void pin_thread(pthread_t thread, unsigned cpu);

} // namespace basal::executors
