#include <basal/executors/config.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <thread>

#include <basal/executors/stack_pool.hpp>

namespace basal::executors {

namespace {

[[noreturn]] void reject(const std::string& pool, const char* field, const std::string& value,
                         const std::string& range) {
  throw std::invalid_argument("basal: pool \"" + pool + "\": " + field + " is " + value
                              + "; it must be " + range);
}

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

/// The CPU quota of the cgroup as a number of CPUs, or infinity. cgroup v2
/// only, of the process's own group as seen through its cgroup namespace.
double quota_cpus() {
  std::ifstream self{"/proc/self/cgroup"};
  std::string line;
  std::string group;
  while (std::getline(self, line))
    if (line.starts_with("0::"))
      group = line.substr(3);
  for (const auto& path :
       {"/sys/fs/cgroup" + group + "/cpu.max", std::string{"/sys/fs/cgroup/cpu.max"}}) {
    std::ifstream file{path};
    std::string quota;
    double period = 0;
    if (file >> quota >> period && quota != "max" && period > 0)
      return std::stod(quota) / period;
  }
  return std::numeric_limits<double>::infinity();
}

} // namespace

void pool_config::validate() const {
  if (name.empty() || name.size() > 11)
    reject(name, "name", '"' + name + '"', "1 to 11 characters long");
  if (executors == 0 || executors > max_executors)
    reject(name, "executors", std::to_string(executors),
           "between 1 and " + std::to_string(max_executors));
  if (stack_bytes < stack_pool::min_stack_bytes)
    reject(name, "stack_bytes", std::to_string(stack_bytes),
           "at least " + std::to_string(stack_pool::min_stack_bytes));
}

std::size_t usable_cpus() noexcept {
  std::size_t cpus = affinity_cpus();
  if (cpus == 0)
    cpus = std::max(1u, std::thread::hardware_concurrency());
  try {
    auto quota = std::ceil(quota_cpus());
    if (quota < static_cast<double>(cpus))
      cpus = static_cast<std::size_t>(quota);
  } catch (...) {
    // an unreadable quota is no quota
  }
  return std::max<std::size_t>(1, cpus);
}

} // namespace basal::executors
