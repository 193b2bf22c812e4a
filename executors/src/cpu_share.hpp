#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <basal/executors/placement.hpp>

// Parts of placement.cpp that tests can call with the facts of another machine.

namespace basal::executors {

/// The CPU quota of this process, as a number of CPUs: the least of those of its cgroup (v2) and of
/// the groups above that its cgroup namespace shows; infinity if none has any.
/// @param root where /proc and /sys are
double quota_cpus(const std::string& root);

/// How many of `cpus` CPUs a quota leaves: rounded up, at least one.
std::size_t cpus_within(std::size_t cpus, double quota) noexcept;

/// As usable_cpus(), with /proc and /sys below `root`.
std::size_t usable_cpus(const char* root) noexcept;

/// A CPU, and how many threads of its core come before it.
struct cpu_place {
  unsigned thread;
  unsigned cpu;
};

/// The CPUs in the order in which executors take them.
/// @param places neighbours next to each other
std::vector<unsigned> in_order(pinning order, std::vector<cpu_place> places);

} // namespace basal::executors
