#pragma once

#include <cstdint>
#include <string>

namespace basal::observer {

/// The kernel's facts about this process. Names and units of Prometheus' `process_*`.
struct process_facts {
  std::string name;
  std::int64_t pid = 0;
  double start_time_seconds = 0; ///< since 1970
  double cpu_seconds = 0;        ///< user and system
  std::uint64_t resident_bytes = 0;
  std::uint64_t open_fds = 0;
};

/// Any thread. Facts that cannot be read are 0 or empty.
process_facts read_process();

} // namespace basal::observer
