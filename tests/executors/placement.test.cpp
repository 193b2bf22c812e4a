#include <basal/executors/executors.hpp>
#include <basal/executors/placement.hpp>

#include "closure_task.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <sched.h>

using namespace basal::executors;

namespace {

std::vector<unsigned> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  REQUIRE(sched_getaffinity(0, sizeof set, &set) == 0);
  std::vector<unsigned> result;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set))
      result.push_back(cpu);
  return result;
}

} // namespace

TEST_CASE("both orders hold each CPU of the process once, and no order none") {
  CHECK(cpus_for(pinning::none).empty());
  for (auto order : {pinning::spread, pinning::compact}) {
    auto cpus = cpus_for(order);
    std::sort(cpus.begin(), cpus.end());
    CHECK(cpus == allowed_cpus());
  }
}

TEST_CASE("a pinned executor runs on its CPU, and nowhere else") {
  const auto cpus = cpus_for(pinning::compact);
  pool_config config;
  config.executors = std::min<std::size_t>(2, cpus.size());
  config.pin = pinning::compact;
  executor_pool pool{config};
  for (int i = 0; i < 20; ++i) {
    completion done;
    std::size_t index = 0;
    unsigned count = 0;
    bool there = false;
    REQUIRE(pool.submit(task::make([&](executor& self) {
      index = self.index();
      cpu_set_t set;
      CPU_ZERO(&set);
      sched_getaffinity(0, sizeof set, &set);
      count = static_cast<unsigned>(CPU_COUNT(&set));
      there = CPU_ISSET(cpus[index], &set);
      done.set();
    })));
    done.wait();
    CHECK(count == 1);
    CHECK(there);
  }
}

TEST_CASE("there can be no more pinned executors than CPUs") {
  pool_config config;
  config.name = "p";
  config.executors = cpus_for(pinning::spread).size() + 1;
  config.pin = pinning::spread;
  CHECK_THROWS_WITH(config.validate(),
                    ContainsSubstring("executors is " + std::to_string(config.executors)
                                      + "; it must be at most "));
}
