#pragma once

#include <functional>

namespace basal::bench {

/// Waits until the process's other threads rest, or for 100 ms. Any thread.
///
/// Before each repetition: libgomp's threads spin for milliseconds after a region, and would take
/// CPUs from the case that comes next, whichever that is, but not from one of their own.
/// @returns whether they rest
bool await_calm();

/// The same. Two looks in a row must find nobody running: some nap between one look and the next.
/// @param others_run whether another thread runs or waits for a CPU
/// @param pause      returns half a millisecond later
bool await_calm(const std::function<bool()>& others_run, const std::function<void()>& pause);

} // namespace basal::bench
