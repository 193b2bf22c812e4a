#pragma once

#include <chrono>
#include <functional>

namespace basal::bench {

/// Waits until the process's other threads rest, or for 100 ms. Any thread.
///
/// Before each repetition: libgomp's threads spin for milliseconds after a region, and would take
/// CPUs from the case that comes next, whichever that is, but not from one of their own.
/// @returns whether they rest
bool await_calm();

/// The same.
/// @param used_by_others CPU time of the other threads so far
/// @param pause          returns half a millisecond later
bool await_calm(const std::function<std::chrono::nanoseconds()>& used_by_others,
                const std::function<void()>& pause);

} // namespace basal::bench
