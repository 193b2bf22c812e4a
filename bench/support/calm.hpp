#pragma once

namespace basal::bench {

/// Waits until the process's other threads rest, or for 100 ms. Any thread.
///
/// Before each repetition: libgomp's threads spin for milliseconds after a region, and would take
/// CPUs from the case that comes next, whichever that is, but not from one of their own.
/// @returns whether they rest
bool await_calm();

} // namespace basal::bench
