#include "run_stats.hpp"

#include <basal/actors/stats.hpp>

#include <caf/actor_system.hpp>
#include <caf/deep_to_string.hpp>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <sys/resource.h>

#include "background.hpp"

namespace codesearch {

namespace {

using executors = std::vector<basal::executors::executor_stats>;

void print_summary_of(const char* kind, const executors& all) {
  basal::executors::executor_stats sum;
  for (const auto& x : all) {
    sum.tasks_run += x.tasks_run;
    sum.tasks_stolen += x.tasks_stolen;
    sum.suspensions += x.suspensions;
    sum.times_parked += x.times_parked;
  }
  std::printf("stats %s executors: %zu, ran %" PRIu64 " tasks (%" PRIu64
              " stolen), suspended %" PRIu64 ", slept %" PRIu64 "\n",
              kind, all.size(), sum.tasks_run, sum.tasks_stolen, sum.suspensions, sum.times_parked);
}

void print_all(const char* kind, executors& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::printf("stats %s_executor %zu %s\n", kind, i, caf::deep_to_string(all[i]).c_str());
  }
}

} // namespace

void print_stats(caf::actor_system& system, stats_detail detail) {
  if (detail == stats_detail::none) {
    return;
  }
  auto stats = basal::actors::stats_of(system);
  if (detail == stats_detail::full) {
    print_all("message", stats.message_executors);
    print_all("compute", stats.compute_executors);
    std::printf("stats posse %s\n", caf::deep_to_string(stats.posse).c_str());
  } else {
    print_summary_of("message", stats.message_executors);
    print_summary_of("compute", stats.compute_executors);
    for (const auto& f : stats.posse.functions) {
      std::printf("stats function %.24s: %" PRIu64 " calls, %" PRIu64 " forks (%" PRIu64
                  " stolen), %.1f ms\n",
                  f.name.c_str(), f.calls, f.forks, f.thefts, static_cast<double>(f.busy_ns) / 1e6);
    }
  }
  const auto b = background::pool_of(system).stats();
  std::printf("stats background: submitted %" PRIu64 ", done %" PRIu64 ", cancelled %" PRIu64
              ", median %.1f us\n",
              std::uint64_t{b.submitted}, std::uint64_t{b.done}, std::uint64_t{b.cancelled},
              b.runtimes.global_median_s * 1e6);
  ::rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0) {
    std::printf("stats peak memory: %ld MB\n", usage.ru_maxrss / 1024);
  }
}

} // namespace codesearch
