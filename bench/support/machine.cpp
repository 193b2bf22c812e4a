#include "bench/support/machine.hpp"

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sched.h>
#include <sys/utsname.h>

namespace basal::bench {

namespace {

std::string cpu_model() {
  std::ifstream info{"/proc/cpuinfo"};
  std::string line;
  while (std::getline(info, line)) {
    // x86 says "model name", most others "Processor" or nothing.
    if (line.starts_with("model name") || line.starts_with("Processor")) {
      if (const auto colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
    }
  }
  return "unknown";
}

int affinity_count() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

std::string kernel_release() {
  utsname name{};
  return uname(&name) == 0 ? std::string{name.sysname} + " " + name.release : "unknown";
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  const auto length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text, length};
}

} // namespace

machine this_machine() {
  machine here;
  here.cpu = cpu_model();
  here.usable_cpus = affinity_count();
  here.kernel = kernel_release();
#if defined(__clang__)
  here.compiler = "clang " __clang_version__;
#elif defined(__GNUC__)
  here.compiler = "g++ " __VERSION__;
#else
  here.compiler = "unknown";
#endif
  here.flags = BASAL_BENCH_FLAGS;
#ifndef NDEBUG
  here.asserts = true;
#endif
  here.load.resize(3);
  if (getloadavg(here.load.data(), 3) != 3)
    here.load.clear();
  here.date = utc_now();
  return here;
}

} // namespace basal::bench
