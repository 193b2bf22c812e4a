// Where an executor wakes up that another one wakes.

#include "free_cpu.hpp"

#include "fake_machine.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <optional>
#include <sched.h>
#include <string>
#include <system_error>
#include <thread>
#include <unistd.h>

using namespace basal::executors;

namespace {

/// A control group (version 1) for the CPUs of threads, where this process may make one.
class cpu_group {
public:
  explicit cpu_group(const std::string& cpus) {
    std::error_code error;
    if (!std::filesystem::create_directory(path_, error))
      return;
    exists_ = write(path_ / "cpuset.mems", "0") && allow(cpus);
  }

  ~cpu_group() {
    std::error_code error;
    std::filesystem::remove(path_, error);
  }

  cpu_group(const cpu_group&) = delete;
  cpu_group& operator=(const cpu_group&) = delete;

  bool exists() const {
    return exists_;
  }

  bool allow(const std::string& cpus) const {
    return write(path_ / "cpuset.cpus", cpus);
  }

  /// Takes in the calling thread.
  bool enter() const {
    return write(path_ / "tasks", std::to_string(gettid()));
  }

  bool leave() const {
    return write(root_ / "tasks", std::to_string(gettid()));
  }

private:
  static bool write(const std::filesystem::path& file, const std::string& text) {
    std::ofstream out{file};
    out << text << std::endl;
    return out.good();
  }

  const std::filesystem::path root_{"/sys/fs/cgroup/cpuset"};
  const std::filesystem::path path_{root_ / ("basal-free-cpu-" + std::to_string(getpid()))};
  bool exists_ = false;
};

cpu_set_t cpus(std::initializer_list<unsigned> numbers) {
  cpu_set_t result;
  CPU_ZERO(&result);
  for (const auto cpu : numbers)
    CPU_SET(cpu, &result);
  return result;
}

unsigned alone(unsigned cpu) noexcept {
  return cpu;
}

unsigned in_pairs(unsigned cpu) noexcept {
  return cpu / 2 * 2;
}

} // namespace

TEST_CASE("the CPU where an executor went to sleep is its first choice") {
  const auto census = std::make_unique<cpu_census>();
  running_on other{*census};
  other.be_on(4);
  CHECK(free_cpu(*census, cpus({0, 5, 6}), 5, &in_pairs) == 5);
  CHECK(free_cpu(*census, cpus({0, 6}), 5, &in_pairs) == 6);
}

TEST_CASE("the next CPU is free on which no executor runs") {
  const auto census = std::make_unique<cpu_census>();
  running_on victim{*census};
  running_on other{*census};
  victim.be_on(5);
  CHECK(free_cpu(*census, cpus({1, 5, 6, 9}), 5, &alone) == 6);
  other.be_on(6);
  CHECK(free_cpu(*census, cpus({1, 5, 6, 9}), 5, &alone) == 9);
  CHECK(free_cpu(*census, cpus({1, 5, 6}), 5, &alone) == 1);
  CHECK(free_cpu(*census, cpus({5, 6}), 5, &alone) == std::nullopt);
  CHECK(free_cpu(*census, cpus({}), 5, &alone) == std::nullopt);
}

TEST_CASE("a CPU of a core on which nobody runs is preferred") {
  const auto census = std::make_unique<cpu_census>();
  running_on victim{*census};
  running_on other{*census};
  victim.be_on(4);
  CHECK(free_cpu(*census, cpus({0, 1, 4, 5}), 4, &in_pairs) == 0);
  CHECK(free_cpu(*census, cpus({4, 5}), 4, &in_pairs) == 5);
  other.be_on(1);
  CHECK(free_cpu(*census, cpus({0, 1, 4, 5}), 4, &in_pairs) == 5);
}

TEST_CASE("a core is known by the first of its CPUs") {
  const fake_machine machine;
  machine.write("/sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "2-3\n");
  machine.write("/sys/devices/system/cpu/cpu67/topology/thread_siblings_list", "3,67\n");
  CHECK(read_core(machine.root, 3) == 2);
  CHECK(read_core(machine.root, 67) == 3);
  CHECK(read_core(machine.root, 4) == 4);
  CHECK(core_of(0) == read_core("", 0));
  CHECK(core_of(0) == read_core("", 0)); // now from memory
}

TEST_CASE("a thread that is kept on a CPU is there, and then may run where it could before") {
  std::thread([] {
    const auto all = allowed_cpus(0);
    unsigned last = 0;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &all)) {
        last = cpu;
        CHECK(keep_on(0, cpu));
        CHECK(static_cast<unsigned>(sched_getcpu()) == cpu);
        let_move(all);
        const auto after = allowed_cpus(0);
        CHECK(CPU_EQUAL(&all, &after));
      }
    // A thread that keeps to one CPU keeps to it.
    const auto one = cpus({last});
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK(keep_on(0, last));
    let_move(one);
    auto after = allowed_cpus(0);
    CHECK(CPU_EQUAL(&one, &after));
    if (CPU_ISSET(CPU_SETSIZE - 1, &all))
      return;
    CHECK_FALSE(keep_on(0, CPU_SETSIZE - 1)); // there is none
    after = allowed_cpus(0);
    CHECK(CPU_EQUAL(&one, &after));
  }).join();
}

TEST_CASE("another thread is kept on a CPU while it sleeps") {
  const auto all = allowed_cpus(0);
  std::atomic<std::int32_t> number{0};
  std::atomic<bool> goes_on{false};
  unsigned woke_on = 0;
  std::thread sleeper{[&] {
    number = gettid();
    number.notify_one();
    goes_on.wait(false);
    woke_on = static_cast<unsigned>(sched_getcpu());
  }};
  number.wait(0);
  unsigned last = 0;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &all))
      last = cpu;
  CHECK(keep_on(number, last));
  const auto kept = allowed_cpus(number);
  CHECK(CPU_COUNT(&kept) == 1);
  goes_on = true;
  goes_on.notify_one();
  sleeper.join();
  CHECK(woke_on == last);
}

TEST_CASE("a thread that was kept on a CPU gets the CPUs that its control group gets") {
  const cpu_group group{"0"};
  const auto all = allowed_cpus(0);
  if (!group.exists() || CPU_COUNT(&all) < 2 || !CPU_ISSET(0, &all) || !CPU_ISSET(1, &all))
    return; // nobody but root may, and only where there is version 1
  std::thread([&] {
    REQUIRE(group.enter());
    const auto before = allowed_cpus(0);
    CHECK(keep_on(0, 0));
    CHECK_FALSE(keep_on(0, 1));
    let_move(before);
    REQUIRE(group.allow("0-1"));
    const auto grown = allowed_cpus(0);
    CHECK(CPU_COUNT(&grown) == 2);
    CHECK(group.leave());
  }).join();
}
