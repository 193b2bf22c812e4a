/// The machine and the build of a measurement: no number means anything without them.
#pragma once

#include <string>
#include <vector>

namespace basal::bench {

struct machine {
  std::string cpu;          ///< model name
  int usable_cpus = 0;      ///< in this process's affinity mask
  std::string kernel;       ///< name and release
  std::string compiler;     ///< name and version
  std::string flags;        ///< of this build type
  bool asserts = false;     ///< built without NDEBUG: slower than what users run
  std::vector<double> load; ///< load averages over 1, 5 and 15 minutes when asked
  std::string date;         ///< ISO 8601, UTC
};

/// Facts that cannot be found out are "unknown", never an error.
machine this_machine();

} // namespace basal::bench
