#include "cpu_share.hpp"

#include "fake_machine.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

using namespace basal::executors;

namespace {

constexpr double no_quota = std::numeric_limits<double>::infinity();

/// A machine on which this process is in the control groups of `group`.
struct grouped_machine : fake_machine {
  explicit grouped_machine(const std::string& group) {
    write("/proc/self/cgroup", "2:cpu:/legacy\n" + group);
  }
};

} // namespace

TEST_CASE("a process has the CPU quota of its control group") {
  grouped_machine machine{"0::/user/job\n"};
  CHECK(quota_cpus(machine.root) == no_quota);
  machine.write("/sys/fs/cgroup/user/job/cpu.max", "150000 100000\n");
  CHECK(quota_cpus(machine.root) == 1.5);
  CHECK(usable_cpus(machine.root.c_str()) == std::min<std::size_t>(2, usable_cpus("/nowhere")));
  machine.write("/sys/fs/cgroup/user/job/cpu.max", "50000 100000\n");
  CHECK(usable_cpus(machine.root.c_str()) == 1);
  machine.write("/sys/fs/cgroup/user/job/cpu.max", "max 100000\n");
  CHECK(quota_cpus(machine.root) == no_quota);
  CHECK(usable_cpus(machine.root.c_str()) == usable_cpus("/nowhere"));
}

TEST_CASE("the least quota of the groups above counts") {
  grouped_machine machine{"0::/slice/service/job\n"};
  machine.write("/sys/fs/cgroup/cpu.max", "800000 100000\n");
  CHECK(quota_cpus(machine.root) == 8);
  machine.write("/sys/fs/cgroup/slice/service/job/cpu.max", "max 100000\n");
  machine.write("/sys/fs/cgroup/slice/cpu.max", "300000 100000\n");
  CHECK(quota_cpus(machine.root) == 3);
  machine.write("/sys/fs/cgroup/slice/service/cpu.max", "400000 100000\n");
  CHECK(quota_cpus(machine.root) == 3);
}

TEST_CASE("in a namespace of its own a process has the quota of what it sees as the root") {
  grouped_machine machine{"0::/\n"};
  machine.write("/sys/fs/cgroup/cpu.max", "250000 100000\n");
  CHECK(quota_cpus(machine.root) == 2.5);
}

TEST_CASE("what cannot be read is no quota") {
  grouped_machine machine{"0::/job\n"};
  for (const auto* text : {"", "much", "100000", "100000 0"}) {
    machine.write("/sys/fs/cgroup/job/cpu.max", text);
    CHECK(quota_cpus(machine.root) == no_quota);
  }
  CHECK(quota_cpus("/nowhere") == no_quota);
}

TEST_CASE("a quota is rounded up, is at least one CPU, and adds none") {
  CHECK(cpus_within(8, 2.0) == 2);
  CHECK(cpus_within(8, 2.1) == 3);
  CHECK(cpus_within(8, 0.1) == 1);
  CHECK(cpus_within(8, 9.0) == 8);
  CHECK(cpus_within(8, no_quota) == 8);
}

TEST_CASE("spread executors take one CPU of each core first, compact ones neighbours") {
  const std::vector<cpu_place> two_cores{{0, 0}, {1, 4}, {0, 1}, {1, 5}};
  CHECK(in_order(pinning::compact, two_cores) == std::vector<unsigned>{0, 4, 1, 5});
  CHECK(in_order(pinning::spread, two_cores) == std::vector<unsigned>{0, 1, 4, 5});
}
