#pragma once

#include <chrono>

namespace basal::executors::detail {

/// Asks the kernel for a time slice of that length for the calling thread: 100 us to 100 ms. A
/// thread with a shorter slice gets its CPU at once when it is woken beside one with a longer
/// slice; in the long run both have the same share. Threads and processes that it starts have the
/// kernel's default again.
///
/// No privilege is needed. Linux heeds it from 6.12 on and ignores it before; threads that do not
/// run under SCHED_OTHER, or that have been given priority over others, are left alone.
/// @returns whether the kernel took the request
/// Source: sched_setattr(2); Documentation/scheduler/sched-eevdf.rst
bool use_time_slice(std::chrono::nanoseconds length) noexcept;

} // namespace basal::executors::detail
