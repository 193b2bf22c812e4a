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
  const auto is_free
    = [&](unsigned cpu) { return CPU_ISSET(cpu, &allowed) && !census.anybody_on(cpu); };
  if (is_free(here))
    return here;
  unsigned end = max_cpus; // of those allowed: each count is a cache line
  while (end > 0 && !CPU_ISSET(end - 1, &allowed))
    --end;
  std::bitset<max_cpus> busy_cores;
  for (unsigned cpu = 0; cpu < end; ++cpu)
    if (census.anybody_on(cpu))
      busy_cores.set(core(cpu) % max_cpus);
  std::optional<unsigned> result;
  for (unsigned i = 1; i <= end; ++i) {
    const auto cpu = (here + i) % end;
    if (!is_free(cpu))
      continue;
    if (!busy_cores.test(core(cpu) % max_cpus))
      return cpu;
    if (!result)
      result = cpu;
  }
  return result;
}

cpu_set_t allowed_cpus(std::int32_t thread) noexcept {
  cpu_set_t result;
  CPU_ZERO(&result);
  if (sched_getaffinity(thread, sizeof result, &result) != 0)
    CPU_ZERO(&result);
  return result;
}

bool keep_on(std::int32_t thread, unsigned cpu) noexcept {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  return sched_setaffinity(thread, sizeof one, &one) == 0;
}

cpu_set_t free_cpus(const cpu_census& census, const cpu_set_t& allowed) noexcept {
  auto result = allowed;
  for (unsigned cpu = 0; cpu < max_cpus; ++cpu)
    if (CPU_ISSET(cpu, &allowed) && census.anybody_on(cpu))
      CPU_CLR(cpu, &result);
  return result;
}

bool begin_on(pthread_t thread, const cpu_set_t& cpus) noexcept {
  return pthread_setaffinity_np(thread, sizeof cpus, &cpus) == 0;
}

void let_move(const cpu_set_t& before) noexcept {
  // All CPUs, which the kernel takes for those of the cgroup, now and later. Where the thread had
  // fewer, somebody has said so.
  cpu_set_t all;
  std::memset(&all, 0xff, sizeof all);
  sched_setaffinity(0, sizeof all, &all);
  const auto after = allowed_cpus(0);
  if (!CPU_EQUAL(&before, &after))
    sched_setaffinity(0, sizeof before, &before);
}

} // namespace basal::executors
