// Starting and stopping an actor system in which nothing runs, everything by default. basal starts
// message executors and as many compute executors; stock CAF, with either scheduler, its workers.
//
// start_stop_us  and start_stop_us_caf, of the quicker one of CAF's schedulers

#include "bench/support/bench.hpp"

#include <basal/actors/actor_system_config.hpp>

#include <caf/actor_system.hpp>

#include <algorithm>
#include <string>

namespace {

using namespace basal;

template <class Config>
void start_and_stop(benchmark::State& state, const char* policy) {
  for (auto _ : state) {
    Config config;
    if (policy != nullptr)
      config.set("scheduler.policy", caf::atom_from_string(std::string{policy}));
    caf::actor_system system{config};
  }
}

std::string name_of(const char* scheduler) {
  return bench::case_name("start_stop", "default", scheduler, 1);
}

const bench::suite start_stop_suite{[](bench::plan& plan) {
  const auto ours = name_of("basal");
  plan.add(ours,
           [](benchmark::State& state) { start_and_stop<actor_system_config>(state, nullptr); },
           {.baseline = ours});
  for (const auto* policy : {"stealing", "sharing"})
    plan.add(
      name_of(policy),
      [=](benchmark::State& state) { start_and_stop<caf::actor_system_config>(state, policy); },
      {.baseline = ours});
  plan.figure("start_stop_us", bench::ns_per_item(ours, 1000));
  plan.figure("start_stop_us_caf", [](const bench::results& all) {
    return std::min(all.median_ns(name_of("stealing")), all.median_ns(name_of("sharing"))) / 1000;
  });
}};

} // namespace
