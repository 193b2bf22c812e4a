#include "free_cpu.hpp"

#include <array>
#include <atomic>
#include <bitset>
#include <cstring>
#include <exception>
#include <fstream>

namespace basal::executors {

namespace {

constexpr unsigned max_cpus = cpu_census::max_cpus;
static_assert(max_cpus <= CPU_SETSIZE);

} // namespace

unsigned read_core(const std::string& root, unsigned cpu) noexcept {
  try {
    std::ifstream siblings{root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu)
                           + "/topology/thread_siblings_list"};
    unsigned first = 0; // of a list such as "0,64" or "0-1"
    return siblings >> first ? first : cpu;
  } catch (const std::exception&) { // no memory
    return cpu;
  }
}

unsigned core_of(unsigned cpu) noexcept {
  static std::array<std::atomic<unsigned>, max_cpus> known{}; // plus 1. Relaxed: all read the same.
  auto& core = known[cpu % max_cpus];
  auto result = core.load(std::memory_order_relaxed);
  if (result == 0) {
    result = read_core("", cpu) + 1;
    core.store(result, std::memory_order_relaxed);
  }
  return result - 1;
}

std::optional<unsigned> free_cpu(const cpu_census& census, const cpu_set_t& allowed, unsigned here,
                                 unsigned (*core)(unsigned) noexcept) noexcept {
  std::bitset<max_cpus> busy_cores;
  for (unsigned cpu = 0; cpu < max_cpus; ++cpu)
    if (census.anybody_on(cpu))
      busy_cores.set(core(cpu) % max_cpus);
  std::optional<unsigned> result;
  for (unsigned i = 1; i <= max_cpus; ++i) {
    const auto cpu = (here + i) % max_cpus;
    if (!CPU_ISSET(cpu, &allowed) || census.anybody_on(cpu))
      continue;
    if (!busy_cores.test(core(cpu) % max_cpus))
      return cpu;
    if (!result)
      result = cpu;
  }
  return result;
}

cpu_set_t allowed_cpus() noexcept {
  cpu_set_t result;
  CPU_ZERO(&result);
  if (sched_getaffinity(0, sizeof result, &result) != 0)
    CPU_ZERO(&result);
  return result;
}

bool move_this_thread(unsigned cpu) noexcept {
  const auto before = allowed_cpus();
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0)
    return false;
  // All CPUs, which the kernel takes for those of the cgroup, now and later. Where the thread had
  // fewer, somebody has said so.
  cpu_set_t all;
  std::memset(&all, 0xff, sizeof all);
  sched_setaffinity(0, sizeof all, &all);
  const auto after = allowed_cpus();
  if (!CPU_EQUAL(&before, &after))
    sched_setaffinity(0, sizeof before, &before);
  return true;
}

} // namespace basal::executors
