#include "bench/support/cpus.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sched.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace basal::bench {

namespace {

cpu_set_t affinity_at_start() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    throw std::system_error(errno, std::generic_category(), "sched_getaffinity");
  return set;
}

const cpu_set_t& usable() {
  static const cpu_set_t set = affinity_at_start();
  return set;
}

cpu_set_t first_of_usable(int cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : usable_cpus())
    if (CPU_COUNT(&set) < cpus)
      CPU_SET(cpu, &set);
  return set;
}

// Peers keep their threads from one case to the next.
void move_all_threads(const cpu_set_t& to) {
  for (const auto& thread : std::filesystem::directory_iterator{"/proc/self/task"}) {
    const auto id = static_cast<pid_t>(std::stol(thread.path().filename().string()));
    // ESRCH: the thread has ended in the meantime.
    if (sched_setaffinity(id, sizeof to, &to) != 0 && errno != ESRCH)
      throw std::system_error(errno, std::generic_category(), "sched_setaffinity");
  }
}

} // namespace

const std::vector<int>& usable_cpus() {
  static const std::vector<int> cpus = [] {
    std::vector<int> made;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &usable()))
        made.push_back(cpu);
    return made;
  }();
  return cpus;
}

const std::vector<int>& cpu_counts() {
  static const std::vector<int> counts = [] {
    const int all = static_cast<int>(usable_cpus().size());
    std::vector<int> made;
    for (int cpus : {1, 2, all})
      if (cpus <= all && std::find(made.begin(), made.end(), cpus) == made.end())
        made.push_back(cpus);
    return made;
  }();
  return counts;
}

cpu_limit::cpu_limit(int cpus) {
  move_all_threads(first_of_usable(cpus));
}

cpu_limit::~cpu_limit() {
  try {
    move_all_threads(usable());
  } catch (const std::exception&) { // the next limit fails, too, and says so
  }
}

cpu_burner::cpu_burner() : process_(fork()) {
  if (process_ < 0)
    throw std::system_error(errno, std::generic_category(), "fork");
  if (process_ == 0) {
    // It must not outlive a benchmark that is killed.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
      _exit(1);
    for (;;)
      asm volatile("");
  }
}

cpu_burner::~cpu_burner() {
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

} // namespace basal::bench
