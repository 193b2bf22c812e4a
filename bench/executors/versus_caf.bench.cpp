// The same actor programs on stock CAF, under both of its schedulers, and on basal: with one
// worker, with two, and with all, which is each scheduler's default. A repetition is a process of
// its own that measures one run of the program, after a smaller one (actor_program.cpp).
//
// CAF runs as it comes: Debian's build, the defaults of both policies. So does basal: beside its
// workers, the message executors, it has its default number of compute executors, which have
// nothing to do here. With one worker and with two that number is set, on both sides, and nothing
// else.
//
// A program's peer is the CAF scheduler on which it is faster.
//
// geomean_vs_caf_1, _2, _all  how many times as fast as the peer
// worst_vs_caf                the least of these
// cpu_vs_caf, cpu_worst...    CPU time over the peer's: the mean over all programs and workers, and
//                             the highest
// tree_rss_vs_caf             peak resident memory of the process over the lower one of CAF's, of
//                             programs that are trees of actors, at sizes where it shows: highest
// spawn_end_us                an actor that gets one message and ends: highest

#include "bench/support/bench.hpp"
#include "bench/support/format.hpp"
#include "bench/support/statistics.hpp"
#include "child.hpp"
#include "programs/program.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace basal;

constexpr const char* ours = "basal";
constexpr std::array peers{"caf_stealing", "caf_sharing"};

/// The number of threads that both sides start by default.
int default_workers() {
  return std::max(4, static_cast<int>(std::thread::hardware_concurrency()));
}

std::vector<int> worker_counts() {
  return {1, 2, default_workers()};
}

std::string suffix_of(int workers) {
  return workers == default_workers() ? "_all" : "_" + std::to_string(workers);
}

/// The argument of actor_program.
int argument_of(int workers) {
  return workers == default_workers() ? 0 : workers;
}

std::int64_t size_of(const bench::program& what, bool quick) {
  return quick ? what.quick_size : what.size;
}

std::string name_of(const bench::program& what, const char* scheduler, bool quick, int workers) {
  return bench::case_name(what.name, size_of(what, quick), scheduler, workers);
}

void add_case(bench::plan& plan, const bench::program& what, const char* scheduler, int workers) {
  plan.add(
    name_of(what, scheduler, plan.quick(), workers),
    [&what, scheduler, workers, size = size_of(what, plan.quick())](benchmark::State& state) {
      bench::child_run run;
      for (auto _ : state) {
        run = bench::run_in_child(what.name, scheduler, argument_of(workers), size);
        state.SetIterationTime(run.wall_ns * 1e-9);
      }
      state.counters["cpu_ns"] = run.cpu_ns;
      state.counters["peak_kb"] = run.peak_kb;
    },
    {.baseline = name_of(what, ours, plan.quick(), workers), .manual_time = true, .iterations = 1});
}

/// A program with a number of workers, on basal and on its peer.
struct comparison {
  std::string name; // of our case
  int workers;
  double wall_ns;
  double cpu_ns;
  double peak_kb;
  const char* peer;
  double peer_wall_ns;
  double peer_cpu_ns;
  double peer_peak_kb;

  double times_as_fast() const {
    return peer_wall_ns / wall_ns;
  }
  double cpu_ratio() const {
    return cpu_ns / peer_cpu_ns;
  }
};

comparison compared(const bench::results& all, const bench::program& what, bool quick,
                    int workers) {
  const auto mine = name_of(what, ours, quick, workers);
  const auto name = [&](const char* peer) { return name_of(what, peer, quick, workers); };
  const auto* peer = *std::min_element(peers.begin(), peers.end(), [&](auto* a, auto* b) {
    return all.median_ns(name(a)) < all.median_ns(name(b));
  });
  return {mine,
          workers,
          all.median_ns(mine),
          all.counter(mine, "cpu_ns"),
          all.counter(mine, "peak_kb"),
          peer,
          all.median_ns(name(peer)),
          all.counter(name(peer), "cpu_ns"),
          all.counter(name(peer), "peak_kb")};
}

/// Of all programs whose cases ran.
std::vector<comparison> comparisons(const bench::results& all, bool quick) {
  std::vector<comparison> made;
  for (const int workers : worker_counts())
    for (const auto* what : bench::all_programs())
      made.push_back(compared(all, *what, quick, workers));
  return made;
}

template <class Ratio>
double geometric_mean(const std::vector<comparison>& of, Ratio ratio) {
  double logarithms = 0;
  for (const auto& one : of)
    logarithms += std::log(ratio(one));
  return std::exp(logarithms / static_cast<double>(of.size()));
}

double speed(const bench::results& all, bool quick, int workers) {
  auto of = comparisons(all, quick);
  std::erase_if(of, [=](const auto& one) { return one.workers != workers; });
  return geometric_mean(of, [](const auto& one) { return one.times_as_fast(); });
}

double worst_speed(const bench::results& all, bool quick) {
  const auto of = comparisons(all, quick);
  for (const auto& one : of) {
    if (one.times_as_fast() < 1)
      std::cout << one.name << ": " << bench::three_digits(one.times_as_fast())
                << " times as fast as " << one.peer << ", with "
                << bench::three_digits(one.cpu_ratio()) << " of its CPU time and "
                << bench::three_digits(one.peak_kb / one.peer_peak_kb) << " of its memory\n";
  }
  const auto& one = *std::min_element(of.begin(), of.end(), [](const auto& a, const auto& b) {
    return a.times_as_fast() < b.times_as_fast();
  });
  std::cout << "worst_vs_caf is that of " << one.name << '\n';
  return one.times_as_fast();
}

double worst_cpu(const bench::results& all, bool quick) {
  const auto of = comparisons(all, quick);
  const auto& one = *std::max_element(of.begin(), of.end(), [](const auto& a, const auto& b) {
    return a.cpu_ratio() < b.cpu_ratio();
  });
  std::cout << "cpu_worst_vs_caf is that of " << one.name << '\n';
  return one.cpu_ratio();
}

double spawn_end_us(const bench::results& all, bool quick) {
  double highest = 0;
  for (const auto* what : bench::all_programs()) {
    if (std::string{"spawn_end"} == what->name)
      for (const int workers : worker_counts())
        highest = std::max(highest, all.median_ns(name_of(*what, ours, quick, workers)) / 1000
                                      / static_cast<double>(size_of(*what, quick)));
  }
  return highest;
}

double peak_kb(const bench::program& what, const char* scheduler, int workers, bool quick) {
  std::vector<double> peaks;
  for (int i = 0; i < (quick ? 1 : 3); ++i)
    peaks.push_back(
      bench::run_in_child(what.name, scheduler, argument_of(workers), what.memory_size, false)
        .peak_kb);
  return bench::median(peaks);
}

double tree_memory(bool quick) {
  double highest = 0;
  for (const auto* what : bench::all_programs()) {
    if (what->memory_size == 0)
      continue;
    for (const int workers : worker_counts()) {
      auto lowest = std::numeric_limits<double>::infinity();
      for (const auto* peer : peers)
        lowest = std::min(lowest, peak_kb(*what, peer, workers, quick));
      const auto mine = peak_kb(*what, ours, workers, quick);
      std::cout << "peak memory of "
                << bench::case_name(what->name, what->memory_size, ours, workers) << ": "
                << bench::three_digits(mine / 1000) << " MB, CAF's "
                << bench::three_digits(lowest / 1000) << '\n';
      highest = std::max(highest, mine / lowest);
    }
  }
  return highest;
}

const bench::suite versus_caf_suite{[](bench::plan& plan) {
  const bool quick = plan.quick();
  for (const auto* what : bench::all_programs()) {
    for (const int workers : worker_counts()) {
      add_case(plan, *what, ours, workers);
      for (const auto* peer : peers)
        add_case(plan, *what, peer, workers);
    }
  }
  for (const int workers : worker_counts())
    plan.figure("geomean_vs_caf" + suffix_of(workers),
                [=](const bench::results& all) { return speed(all, quick, workers); });
  plan.figure("worst_vs_caf", [=](const bench::results& all) { return worst_speed(all, quick); });
  plan.figure("cpu_vs_caf", [=](const bench::results& all) {
    return geometric_mean(comparisons(all, quick), [](const auto& one) { return one.cpu_ratio(); });
  });
  plan.figure("cpu_worst_vs_caf", [=](const bench::results& all) { return worst_cpu(all, quick); });
  plan.figure("spawn_end_us", [=](const bench::results& all) { return spawn_end_us(all, quick); });
  plan.measure("tree_rss_vs_caf", [=] { return tree_memory(quick); });
}};

} // namespace
