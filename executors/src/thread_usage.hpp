#pragma once

#include <cstdint>
#include <ctime>
#include <sys/resource.h>

namespace basal::executors {

/// How long the calling thread has had a CPU. A system call, some 0.2 us.
inline std::int64_t thread_cpu_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

/// The kernel's counts for the calling thread. Its times may be a tick old. A system call,
/// some 0.3 us.
inline rusage thread_usage() noexcept {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  return used;
}

} // namespace basal::executors
