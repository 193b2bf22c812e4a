#include "bench/support/cpus.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <string>
#include <thread>
#include <unistd.h>

using namespace basal::bench;

namespace {

int cpus_of(pid_t thread) {
  cpu_set_t set;
  CPU_ZERO(&set);
  REQUIRE(sched_getaffinity(thread, sizeof set, &set) == 0);
  return CPU_COUNT(&set);
}

std::string children() {
  std::ifstream file{"/proc/self/task/" + std::to_string(getpid()) + "/children"};
  std::string ids;
  std::getline(file, ids);
  return ids;
}

} // namespace

TEST_CASE("the numbers of CPUs begin with one and end with all") {
  const auto& counts = cpu_counts();
  REQUIRE_FALSE(counts.empty());
  CHECK(counts.front() == 1);
  CHECK(counts.back() == cpus_of(0));
}

TEST_CASE("a limit holds for threads that were there before and for those that come") {
  const int all = cpu_counts().back();
  std::atomic<pid_t> before{0};
  std::atomic<bool> done{false};
  std::jthread other{[&] {
    before = gettid();
    before.notify_one();
    done.wait(false);
  }};
  before.wait(0);
  {
    const cpu_limit limit{1};
    CHECK(cpus_of(0) == 1);
    CHECK(cpus_of(before) == 1);
    int of_new = 0;
    std::jthread{[&] { of_new = cpus_of(0); }}.join();
    CHECK(of_new == 1);
  }
  CHECK(cpus_of(0) == all);
  CHECK(cpus_of(before) == all);
  done = true;
  done.notify_one();
}

TEST_CASE("a burner is another process, and is gone with its object") {
  if (!std::filesystem::exists("/proc/self/task/" + std::to_string(getpid()) + "/children"))
    return; // a kernel without CONFIG_PROC_CHILDREN
  REQUIRE(children().empty());
  {
    const cpu_burner burner;
    CHECK_FALSE(children().empty());
  }
  CHECK(children().empty());
}
