#pragma once

#include <basal/actors/stats.hpp>
#include <basal/posse/theft.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace basal::actors {

/// Facts about an executor's thread, from the kernel and its records; empty where these have none.
struct thread_facts {
  std::uint64_t waited_ns = 0; ///< since its start, ready to run, for a CPU
  std::string kernel_function; ///< in which it sleeps; empty: it runs, or is ready to
  std::string work;            ///< that it runs, as far as it is recorded; empty: not known
};

/// The evidence for warnings: the statistics of one moment, and facts beside them.
struct evidence {
  std::chrono::steady_clock::time_point taken;
  system_stats stats;
  std::vector<thread_facts> message_threads; ///< by executor
  std::vector<thread_facts> compute_threads;
  std::chrono::nanoseconds quantum{0};
  std::size_t cpus = 1; ///< that the process may use
  posse::hysteresis steal_by = posse::hysteresis::worth;
  std::uint64_t stolen_ns = 0; ///< by the hypervisor from each CPU, on average, since the start
  std::uint64_t expected_offload_ns = 0; ///< as calibrated or set; 0: not known
};

/// Something that a warning may be made of.
struct finding {
  warning_kind kind;
  std::string subject;
  std::string cause;
};

/// Findings from the changes between two moments. Judged by shares of the time in between, never by
/// counts: a thread that is scheduled away on a busy machine has not overrun.
std::vector<finding> judge(const evidence& before, const evidence& now);

} // namespace basal::actors
