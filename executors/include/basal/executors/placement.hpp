#pragma once

#include <cstddef>
#include <vector>

namespace basal::executors {

/// The number of CPUs this process may use: its affinity mask, further limited
/// by the cgroup's CPU quota (rounded up). At least 1.
std::size_t usable_cpus() noexcept;

/// Whether executors keep to CPUs of their own.
enum class pinning {
  none,    ///< the kernel moves them as it likes
  spread,  ///< one to each core first, hardware threads that share a core last
  compact, ///< neighbours first: they share caches, and a core if it has more threads
};

constexpr const char* to_string(pinning x) noexcept {
  constexpr const char* names[] = {"none", "spread", "compact"};
  return names[static_cast<int>(x)];
}

/// The CPUs that this process may use, in the order in which executors take them;
/// empty for pinning::none. The order of the topology, so that the first half of
/// them lies in as few packages and NUMA nodes as can be.
/// @throws std::runtime_error when the topology cannot be read
std::vector<unsigned> cpus_for(pinning order);

} // namespace basal::executors
