#include <basal/executors/placement.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <hwloc.h>
#include <memory>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "cpu_share.hpp"
#include "pin_thread.hpp"

namespace basal::executors {

namespace {

/// CPUs in the affinity mask, or 0 when the kernel does not say.
std::size_t affinity_cpus() noexcept {
  // More CPUs than the fixed-size mask holds make the call fail: then grow.
  for (int cpus = 1024; cpus <= 1 << 16; cpus *= 2) {
    auto* set = CPU_ALLOC(static_cast<std::size_t>(cpus));
    if (set == nullptr)
      return 0;
    auto bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(cpus));
    auto ok = sched_getaffinity(0, bytes, set) == 0;
    auto count = ok ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (ok)
      return static_cast<std::size_t>(count);
  }
  return 0;
}

struct destroy_topology {
  void operator()(hwloc_topology_t t) const noexcept {
    hwloc_topology_destroy(t);
  }
};

/// How many CPUs' time the process's cgroup grants. Asked for every 100 ms at most: a system that
/// starts wants to know several times, and each time takes three files.
double recent_quota() {
  using clock = std::chrono::steady_clock;
  constexpr auto good_for = std::chrono::milliseconds{100};
  static std::atomic<double> quota{0};
  static std::atomic<clock::duration> until{clock::duration::min()};
  const auto present = clock::now().time_since_epoch();
  if (present >= until.load(std::memory_order_acquire)) {
    quota.store(quota_cpus(""), std::memory_order_relaxed);
    until.store(present + good_for, std::memory_order_release); // publishes the quota
  }
  return quota.load(std::memory_order_relaxed);
}

/// @param quota tells how many CPUs' time there is; may throw std::bad_alloc
template <class Quota>
std::size_t usable_cpus_within(Quota quota) noexcept {
  std::size_t cpus = affinity_cpus();
  if (cpus == 0)
    cpus = std::max(1u, std::thread::hardware_concurrency());
  try {
    return cpus_within(cpus, quota());
  } catch (const std::exception&) { // no memory
    return cpus;
  }
}

using topology = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, destroy_topology>;

/// The CPUs of the affinity mask, with their cores; no devices, which take long to find.
topology read_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0)
    throw std::runtime_error("basal: no memory for the topology of this machine");
  topology result{raw};
  hwloc_topology_set_all_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING
                                  | HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM);
  if (hwloc_topology_load(raw) != 0)
    throw std::runtime_error("basal: cannot read the topology of this machine, which pinning "
                             "needs; turn it off");
  return result;
}

} // namespace

std::size_t usable_cpus() noexcept {
  return usable_cpus_within(recent_quota);
}

std::size_t usable_cpus(const char* root) noexcept {
  return usable_cpus_within([root] { return quota_cpus(root); });
}

std::vector<unsigned> cpus_for(pinning order) {
  if (order == pinning::none)
    return {};
  auto machine = read_topology();
  std::vector<cpu_place> places;
  hwloc_obj_t cpu = nullptr;
  hwloc_obj_t core = nullptr;
  unsigned thread = 0;
  while ((cpu = hwloc_get_next_obj_by_type(machine.get(), HWLOC_OBJ_PU, cpu)) != nullptr) {
    auto* mine = hwloc_get_ancestor_obj_by_type(machine.get(), HWLOC_OBJ_CORE, cpu);
    thread = mine != nullptr && mine == core ? thread + 1 : 0;
    core = mine;
    places.push_back({thread, cpu->os_index});
  }
  return in_order(order, std::move(places));
}

void pin_thread(pthread_t thread, unsigned cpu) {
  auto* set = CPU_ALLOC(cpu + 1);
  if (set == nullptr)
    throw std::bad_alloc{};
  auto bytes = CPU_ALLOC_SIZE(cpu + 1);
  CPU_ZERO_S(bytes, set);
  CPU_SET_S(cpu, bytes, set);
  auto error = pthread_setaffinity_np(thread, bytes, set);
  CPU_FREE(set);
  if (error != 0)
    throw std::system_error(error, std::generic_category(),
                            "basal: cannot pin an executor to CPU " + std::to_string(cpu));
}

} // namespace basal::executors
