#include "process.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

#include <sys/resource.h>
#include <unistd.h>

namespace basal::observer {

namespace {

/// Of /proc/stat.
double boot_time_seconds() {
  std::ifstream file{"/proc/stat"};
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("btime "))
      return std::stod(line.substr(6));
  return 0;
}

/// After boot, of /proc/self/stat: field 22, the 20th after the name, which may hold anything.
double start_after_boot_seconds() {
  std::ifstream file{"/proc/self/stat"};
  const std::string line{std::istreambuf_iterator<char>{file}, {}};
  const auto name_ends = line.rfind(')');
  if (name_ends == std::string::npos)
    return 0;
  std::istringstream fields{line.substr(name_ends + 1)};
  std::string field;
  for (int i = 0; i < 20; ++i)
    fields >> field;
  return fields ? std::stod(field) / static_cast<double>(sysconf(_SC_CLK_TCK)) : 0;
}

double seconds(const timeval& x) {
  return static_cast<double>(x.tv_sec) + static_cast<double>(x.tv_usec) / 1e6;
}

std::uint64_t resident_bytes() {
  std::ifstream file{"/proc/self/statm"};
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  return file >> all >> resident ? resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

std::uint64_t open_fds() {
  std::error_code problem;
  std::uint64_t result = 0;
  for (std::filesystem::directory_iterator at{"/proc/self/fd", problem}, end; !problem && at != end;
       at.increment(problem))
    ++result;
  return result;
}

} // namespace

process_facts read_process() {
  process_facts result;
  std::ifstream comm{"/proc/self/comm"};
  std::getline(comm, result.name);
  result.pid = getpid();
  static const double started = boot_time_seconds() + start_after_boot_seconds();
  result.start_time_seconds = started;
  rusage used{};
  if (getrusage(RUSAGE_SELF, &used) == 0)
    result.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  result.resident_bytes = resident_bytes();
  result.open_fds = open_fds();
  return result;
}

} // namespace basal::observer
