/// On how many CPUs a case runs, and what runs there beside it.
#pragma once

#include <sys/types.h>

#include <vector>

namespace basal::bench {

/// The CPUs that this process may use, as it was at the first question.
const std::vector<int>& usable_cpus();

/// 1, 2 and all CPUs that this process may use; each number once, and none above all.
const std::vector<int>& cpu_counts();

/// While it lives, all threads of this process, and those that they start, run on the first `cpus`
/// CPUs that the process may use. Not thread-safe: one at a time, while no thread is starting.
class cpu_limit {
public:
  /// @throws std::system_error when the kernel refuses
  explicit cpu_limit(int cpus);
  ~cpu_limit();

  cpu_limit(const cpu_limit&) = delete;
  cpu_limit& operator=(const cpu_limit&) = delete;
};

/// While it lives, another process counts without end, on a CPU that the kernel chooses among those
/// of the calling thread.
class cpu_burner {
public:
  /// @throws std::system_error when the kernel refuses
  cpu_burner();
  ~cpu_burner();

  cpu_burner(const cpu_burner&) = delete;
  cpu_burner& operator=(const cpu_burner&) = delete;

private:
  pid_t process_;
};

} // namespace basal::bench
