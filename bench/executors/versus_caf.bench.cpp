// The same actor programs on stock CAF, under both of its schedulers, and on basal, with one worker
// and with two. The actor system lives outside the timing loop: a program is all that is timed.
//
// CAF runs as it comes: Debian's build, the defaults of both policies. Only the number of workers
// is set. basal has one compute executor beside them, which has nothing to do here and sleeps.

#include "bench/support/bench.hpp"
#include "programs/program.hpp"

#include <basal/actors/actor_system_config.hpp>

#include <caf/actor_system.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <iterator>
#include <limits>

namespace {

using namespace basal;

struct stock_stealing {
  static constexpr const char* name = "caf_stealing";
  caf::actor_system_config config;

  explicit stock_stealing(int workers) {
    config.set("scheduler.policy", caf::atom("stealing"));
    config.set("scheduler.max-threads", static_cast<std::size_t>(workers));
  }
};

struct stock_sharing {
  static constexpr const char* name = "caf_sharing";
  caf::actor_system_config config;

  explicit stock_sharing(int workers) {
    config.set("scheduler.policy", caf::atom("sharing"));
    config.set("scheduler.max-threads", static_cast<std::size_t>(workers));
  }
};

struct ours {
  static constexpr const char* name = "basal";
  actor_system_config config;

  explicit ours(int workers) {
    config.set("basal.message-executors", static_cast<std::size_t>(workers));
    config.set("basal.compute-executors", std::size_t{1});
  }
};

std::int64_t size_of(const bench::program& what, bool quick) {
  return quick ? what.quick_size : what.size;
}

template <class Scheduler>
std::string name_of(const bench::program& what, bool quick, int workers) {
  return bench::case_name(what.name, size_of(what, quick), Scheduler::name, workers);
}

template <class Scheduler>
void add_case(bench::plan& plan, const bench::program& what, int workers) {
  plan.add(name_of<Scheduler>(what, plan.quick(), workers),
           [&what, workers, size = size_of(what, plan.quick())](benchmark::State& state) {
             Scheduler scheduler{workers};
             caf::actor_system system{scheduler.config};
             bench::check(state, what.expected(size), [&] { return what.run(system, size); });
           },
           {.baseline = name_of<ours>(what, plan.quick(), workers)});
}

// How many times as fast we are as the better of CAF's two schedulers.
double ratio(const bench::results& all, const bench::program& what, bool quick, int workers) {
  const auto caf = std::min(all.median_ns(name_of<stock_stealing>(what, quick, workers)),
                            all.median_ns(name_of<stock_sharing>(what, quick, workers)));
  return caf / all.median_ns(name_of<ours>(what, quick, workers));
}

double geometric_mean(const bench::results& all, bool quick, int workers) {
  double logarithms = 0;
  for (const auto* what : bench::all_programs)
    logarithms += std::log(ratio(all, *what, quick, workers));
  return std::exp(logarithms / static_cast<double>(std::size(bench::all_programs)));
}

double worst(const bench::results& all, bool quick) {
  auto lowest = std::numeric_limits<double>::infinity();
  std::string where;
  for (const auto* what : bench::all_programs) {
    for (const int workers : {1, 2}) {
      if (const auto one = ratio(all, *what, quick, workers); one < lowest) {
        lowest = one;
        where = name_of<ours>(*what, quick, workers);
      }
    }
  }
  std::cout << "worst_vs_caf is that of " << where << '\n';
  return lowest;
}

const bench::suite versus_caf_suite{[](bench::plan& plan) {
  const bool quick = plan.quick();
  for (const auto* what : bench::all_programs) {
    for (const int workers : {1, 2}) {
      add_case<ours>(plan, *what, workers);
      add_case<stock_stealing>(plan, *what, workers);
      add_case<stock_sharing>(plan, *what, workers);
    }
  }
  for (const int workers : {1, 2})
    plan.figure("geomean_vs_caf_" + std::to_string(workers),
                [=](const bench::results& all) { return geometric_mean(all, quick, workers); });
  plan.figure("worst_vs_caf", [=](const bench::results& all) { return worst(all, quick); });
}};

} // namespace
