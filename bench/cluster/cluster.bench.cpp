// A batch over worker processes, beside one process, Open MPI and GNU parallel.
//
// cluster_overhead        time over that of `map` on the same two executors in one process, items
//                         of 5 ms; _2cpu: where these two CPUs are all there are, for the
//                         coordinator and the server, too. Lower is better
// cluster_speedup_2       two worker processes of one executor over one, items of 5 ms. Higher
// cluster_items_per_s     empty items a second. Higher
// cluster_recovery_s      from a worker's SIGKILL to the end of a batch that has little else to do.
//                         Its items' lease is 5 s
// cluster_server_back_s   from when a killed server listens again, 5 s later (`--quick`: 1 s), to
//                         the end of the first second with nine tenths of the results that
//                         a second had before. Lower
// farm_KIND_s             10^4 items of 1 ms, two workers (`--quick`: 10^3). Lower
// killed_KIND             share of the results that come when a worker is killed at half of these
//                         items. Higher
// killed_KIND_s           how long that takes; not of mpi, which does not get to the end. Lower
//
// KIND is basal, mpi or parallel. mpi is a farm of a master and two workers on Open MPI (Debian:
// openmpi-bin), whose waiting master yields its CPU; it has no way to go on without a rank.
// parallel is GNU parallel, 50 items a process, failed ones tried again: with a process an item
// most of the time is taken by starting them. Both are left out where they are not installed.

#include "bench/support/bench.hpp"
#include "bench/support/cpus.hpp"

#include <basal/cluster/cluster.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <sys/stat.h>

#include "items.hpp"
#include "processes.hpp"

using namespace basal;
using namespace std::chrono_literals;
using bench::job;

namespace {

using steady = std::chrono::steady_clock;

struct work {
  std::vector<job> items;
  std::uint64_t sum = 0; ///< of the results

  work(std::uint64_t count, std::uint64_t steps) {
    for (std::uint64_t i = 0; i < count; ++i) {
      items.push_back({i, steps});
      sum += bench::foretold(items.back());
    }
  }
};

std::uint64_t mapped(cluster::coordinator& c, const work& w) {
  std::uint64_t sum = 0;
  const auto done
    = map(c, bench::pure_chain, w.items, [&](std::uint64_t, std::uint64_t x) { sum += x; });
  return done.results == w.items.size() ? sum : 0;
}

/// Worker processes of one executor each, or as many executors of this process.
enum class place { cluster, local };

struct mapping {
  std::string workload;
  std::uint64_t count;            ///< of items
  std::chrono::microseconds time; ///< of an item
  int cpus = 0;                   ///< for everybody together; 0: all that there are
};

std::string add_map(bench::plan& plan, const mapping& m, place where, int workers) {
  const auto size
    = std::to_string(m.count) + (m.time == 0us ? "" : "x" + std::to_string(m.time / 1ms) + "ms");
  const auto name
    = bench::case_name(m.workload, size, where == place::local ? "local" : "cluster", workers);
  plan.add(name,
           [=](benchmark::State& state) {
             std::optional<bench::cpu_limit> limit;
             if (m.cpus > 0)
               limit.emplace(m.cpus);
             const work w{m.count, bench::steps_of(m.time)};
             std::optional<bench::local_cluster> processes;
             cluster::coordinator_options options;
             if (where == place::cluster)
               options.connection.address = processes.emplace(workers).address();
             else
               options.executors = static_cast<std::size_t>(workers);
             cluster::coordinator c{options};
             const work warm{40, bench::steps_of(100us)};
             if (mapped(c, warm) != warm.sum)
               throw std::runtime_error{"wrong answer"};
             bench::check(state, w.sum, [&] { return mapped(c, w); });
           },
           {.iterations = 1});
  return name;
}

std::string mpi_command(std::uint64_t count, std::uint64_t steps) {
  return "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun -n 3 --oversubscribe "
         "--bind-to none --mca mpi_yield_when_idle 1 --mca btl vader,self '"
         + bench::program("cluster_farm") + "' " + std::to_string(count) + ' '
         + std::to_string(steps) + " 2>/dev/null";
}

std::string parallel_command(std::uint64_t count, std::uint64_t steps) {
  return "seq 0 " + std::to_string(count - 1) + " | parallel --will-cite -j 2 -n 50 --retries 3 '"
         + bench::program("cluster_item") + "' items " + std::to_string(steps) + " 2>/dev/null";
}

enum class kind { basal, mpi, parallel };

bench::answers run_farm(kind which, const work& w) {
  const auto count = w.items.size();
  const auto steps = w.items.front().steps;
  if (which == kind::mpi)
    return bench::answers_of(mpi_command(count, steps));
  if (which == kind::parallel)
    return bench::answers_of(parallel_command(count, steps));
  const bench::local_cluster processes{2};
  cluster::coordinator c{{.connection = {.address = processes.address()}}};
  bench::answers result;
  map(c, bench::pure_chain, w.items, [&](std::uint64_t, std::uint64_t x) {
    ++result.count;
    result.sum += x;
  });
  return result;
}

work farm_work(bool quick) {
  return {quick ? 1'000U : 10'000U, bench::steps_of(1ms)};
}

/// From the first start of a process to the last one's end.
double farm_s(kind which, bool quick) {
  const auto w = farm_work(quick);
  const auto begin = steady::now();
  const auto found = run_farm(which, w);
  const std::chrono::duration<double> took = steady::now() - begin;
  if (found.count != w.items.size() || found.sum != w.sum)
    throw std::runtime_error{"wrong answer"};
  return took.count();
}

/// A worker dies of an item, the first time that it is tried.
class death {
public:
  explicit death(std::uint64_t item) : file_((folder_.path() / "died").string()) {
    setenv("BASAL_BENCH_DEADLY", (std::to_string(item) + ' ' + file_).c_str(), 1);
  }
  ~death() {
    unsetenv("BASAL_BENCH_DEADLY");
  }
  death(const death&) = delete;
  death& operator=(const death&) = delete;

  double seconds_ago() const {
    struct stat found {};
    timespec now{};
    if (stat(file_.c_str(), &found) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0)
      throw std::runtime_error{"nobody died"};
    return static_cast<double>(now.tv_sec - found.st_mtim.tv_sec)
           + static_cast<double>(now.tv_nsec - found.st_mtim.tv_nsec) / 1e9;
  }

private:
  const bench::temporary_folder folder_;
  const std::string file_;
};

/// A farm in which a worker is killed at half of the items: its share of the results that come, and
/// how long it takes.
struct killing {
  double share = 0;
  double seconds = 0;

  killing(kind which, bool quick) {
    const auto w = farm_work(quick);
    const death of_one{w.items.size() / 2};
    const auto begin = steady::now();
    const auto found = run_farm(which, w);
    seconds = std::chrono::duration<double>(steady::now() - begin).count();
    static_cast<void>(of_one.seconds_ago());
    if (found.count > w.items.size() || (found.count == w.items.size() && found.sum != w.sum))
      throw std::runtime_error{"wrong answer"};
    share = static_cast<double>(found.count) / static_cast<double>(w.items.size());
  }
};

double recovery_s() {
  const work w{200, bench::steps_of(5ms)};
  const death of_one{180};
  const bench::local_cluster processes{2};
  cluster::coordinator c{{.connection = {.address = processes.address()}}};
  if (mapped(c, w) != w.sum)
    throw std::runtime_error{"wrong answer"};
  return of_one.seconds_ago();
}

/// When results came, in an order of their own.
class arrivals {
public:
  void note() {
    const std::lock_guard guard{mutex_};
    times_.push_back(steady::now());
  }

  std::size_t count() const {
    const std::lock_guard guard{mutex_};
    return times_.size();
  }

  std::size_t within(steady::time_point from, steady::time_point to) const {
    const std::lock_guard guard{mutex_};
    return static_cast<std::size_t>(std::count_if(
      times_.begin(), times_.end(), [&](const auto& t) { return t >= from && t < to; }));
  }

private:
  mutable std::mutex mutex_;
  std::vector<steady::time_point> times_;
};

double server_back_s(bool quick) {
  const work w{quick ? 8'000U : 20'000U, bench::steps_of(1ms)};
  bench::local_cluster processes{2};
  cluster::coordinator c{{.connection = {.address = processes.address()}}};
  arrivals results;
  std::uint64_t sum = 0;
  std::thread batch{[&] {
    map(c, bench::pure_chain, w.items, [&](std::uint64_t, std::uint64_t x) {
      sum += x;
      results.note();
    });
  }};
  const auto wait = [&](std::size_t results_there) {
    while (results.count() < results_there)
      std::this_thread::sleep_for(1ms);
    return steady::now();
  };
  const auto first = wait(w.items.size() / 20);
  const auto killed = wait(w.items.size() / 4);
  const auto before = static_cast<double>(results.within(first, killed))
                      / std::chrono::duration<double>(killed - first).count();
  processes.restart_server(quick ? 1s : 5s);
  const auto listens = steady::now();
  batch.join();
  if (sum != w.sum)
    throw std::runtime_error{"wrong answer"};
  for (auto end = listens + 1s; end < steady::now(); end += 10ms)
    if (static_cast<double>(results.within(end - 1s, end)) >= 0.9 * before)
      return std::chrono::duration<double>(end - listens).count();
  throw std::runtime_error{"the rate of results did not come back"};
}

const bench::suite cluster_suite{[](bench::plan& plan) {
  const bool quick = plan.quick();
  const mapping items{"map", quick ? 100U : 400U, 5ms};
  const auto one = add_map(plan, items, place::cluster, 1);
  const auto two = add_map(plan, items, place::cluster, 2);
  const auto local = add_map(plan, items, place::local, 2);
  plan.figure("cluster_overhead", bench::ratio(two, local));
  plan.figure("cluster_speedup_2", bench::ratio(one, two));
  const mapping tight{"map_2cpu", items.count, items.time, 2};
  const auto two_tight = add_map(plan, tight, place::cluster, 2);
  const auto local_tight = add_map(plan, tight, place::local, 2);
  plan.figure("cluster_overhead_2cpu", bench::ratio(two_tight, local_tight));

  const std::uint64_t empty = quick ? 5'000 : 20'000;
  const auto none = add_map(plan, {"empty", empty, 0us}, place::cluster, 2);
  plan.figure("cluster_items_per_s", [=](const bench::results& r) {
    return static_cast<double>(empty) / (r.median_ns(none) / 1e9);
  });
  plan.measure("cluster_recovery_s", recovery_s);
  plan.measure("cluster_server_back_s", [=] { return server_back_s(quick); });

  const auto add_farm = [&](const std::string& name, kind which) {
    plan.measure("farm_" + name + "_s", [=] { return farm_s(which, quick); });
    const auto found = std::make_shared<std::optional<killing>>(); // one run, two figures
    const auto killed
      = [=]() -> const killing& { return *found ? **found : found->emplace(which, quick); };
    plan.measure("killed_" + name, [=] { return killed().share; });
    if (which == kind::mpi)
      return;
    plan.measure("killed_" + name + "_s", [=] {
      if (killed().share < 1)
        throw bench::not_measured{"it does not get to the end"};
      return killed().seconds;
    });
  };
  add_farm("basal", kind::basal);
#ifdef BASAL_BENCH_MPI
  if (bench::is_installed("mpirun"))
    add_farm("mpi", kind::mpi);
#endif
  if (bench::is_installed("parallel"))
    add_farm("parallel", kind::parallel);
}};

} // namespace
