#pragma once

#include <basal/actors/stats.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace basal::actors {

/// What the kernel says of an executor's thread. Empty where it says nothing.
struct thread_facts {
  std::uint64_t waited_ns = 0; ///< since its start, ready to run, for a CPU
  std::string kernel_function; ///< in which it sleeps; empty: it runs, or is ready to
  std::string work;            ///< what it runs, as far as it is recorded; empty: not known
};

/// What warnings are judged by: the statistics of one moment, and what they do not hold.
struct evidence {
  std::chrono::steady_clock::time_point taken;
  system_stats stats;
  std::vector<thread_facts> message_threads; ///< by executor
  std::vector<thread_facts> compute_threads;
  std::chrono::nanoseconds quantum{0};
  std::uint64_t expected_offload_ns = 0; ///< as calibrated or set; 0: not known
};

/// Something that a warning may be made of.
struct finding {
  warning_kind kind;
  std::string subject;
  std::string cause;
};

/// What there is to warn of, by what has changed from one moment to a later one. Shares of the time
/// between them, never counts: what is scheduled away on a busy machine has not overrun.
std::vector<finding> judge(const evidence& before, const evidence& now);

} // namespace basal::actors
