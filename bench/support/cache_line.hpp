#pragma once

#include <optional>

namespace basal::bench {

/// Nanoseconds in which a cache line goes from the first CPU that this process may use to the
/// second and back, or nothing where there is no second one. Takes some milliseconds.
///
/// On virtual machines it changes by a factor of five from one minute to the next, as the host
/// moves the virtual CPUs closer together or further apart, and with it whatever shares data.
std::optional<double> cache_line_ns();

} // namespace basal::bench
