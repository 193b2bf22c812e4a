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
// burner_..._vs_caf           the same, with all workers, beside another process that computes
// tree_rss_vs_caf             peak resident memory of the process over the lower one of CAF's, of
//                             programs that are trees of actors, at sizes where it shows: highest
// spawn_end_us                an actor that gets one message and ends: highest

#include "bench/support/bench.hpp"
#include "bench/support/cpus.hpp"
#include "bench/support/format.hpp"
#include "bench/support/statistics.hpp"
#include "child.hpp"
#include "programs/program.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <limits>
#include <optional>
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

/// How a program runs.
struct setting {
  int workers;
  bool beside_burner = false; ///< another process computes meanwhile
};

std::vector<setting> undisturbed() {
  std::vector<setting> made;
  for (const int workers : worker_counts())
    made.push_back({workers});
  return made;
}

std::vector<setting> beside_burner() {
  return {{default_workers(), true}};
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

std::string name_of(const bench::program& what, const char* scheduler, bool quick, setting at) {
  const auto workload = std::string{what.name} + (at.beside_burner ? "_beside_burner" : "");
  return bench::case_name(workload, size_of(what, quick), scheduler, at.workers);
}

void add_case(bench::plan& plan, const bench::program& what, const char* scheduler, setting at) {
  plan.add(
    name_of(what, scheduler, plan.quick(), at),
    [&what, scheduler, at, size = size_of(what, plan.quick())](benchmark::State& state) {
      std::optional<bench::cpu_burner> burner;
      if (at.beside_burner)
        burner.emplace();
      bench::child_run run;
      for (auto _ : state) {
        run = bench::run_in_child(what.name, scheduler, argument_of(at.workers), size);
        state.SetIterationTime(run.wall_ns * 1e-9);
      }
      state.counters["cpu_ns"] = run.cpu_ns;
      state.counters["peak_kb"] = run.peak_kb;
    },
    {.baseline = name_of(what, ours, plan.quick(), at), .manual_time = true, .iterations = 1});
}

/// A program in one setting, on basal and on its peer.
struct comparison {
  std::string name; // of our case
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

comparison compared(const bench::results& all, const bench::program& what, bool quick, setting at) {
  const auto mine = name_of(what, ours, quick, at);
  const auto name = [&](const char* peer) { return name_of(what, peer, quick, at); };
  const auto* peer = *std::min_element(peers.begin(), peers.end(), [&](auto* a, auto* b) {
    return all.median_ns(name(a)) < all.median_ns(name(b));
  });
  return {mine,
          all.median_ns(mine),
          all.counter(mine, "cpu_ns"),
          all.counter(mine, "peak_kb"),
          peer,
          all.median_ns(name(peer)),
          all.counter(name(peer), "cpu_ns"),
          all.counter(name(peer), "peak_kb")};
}

/// Of all programs.
std::vector<comparison> comparisons(const bench::results& all, bool quick,
                                    const std::vector<setting>& settings) {
  std::vector<comparison> made;
  for (const auto at : settings)
    for (const auto* what : bench::all_programs())
      made.push_back(compared(all, *what, quick, at));
  return made;
}

template <class Ratio>
double geometric_mean(const std::vector<comparison>& of, Ratio ratio) {
  double logarithms = 0;
  for (const auto& one : of)
    logarithms += std::log(ratio(one));
  return std::exp(logarithms / static_cast<double>(of.size()));
}

double speed(const std::vector<comparison>& of) {
  return geometric_mean(of, [](const auto& one) { return one.times_as_fast(); });
}

double cpu(const std::vector<comparison>& of) {
  return geometric_mean(of, [](const auto& one) { return one.cpu_ratio(); });
}

double worst_speed(const std::vector<comparison>& of) {
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
  std::cout << "the slowest beside its peer: " << one.name << '\n';
  return one.times_as_fast();
}

double worst_cpu(const std::vector<comparison>& of) {
  const auto& one = *std::max_element(of.begin(), of.end(), [](const auto& a, const auto& b) {
    return a.cpu_ratio() < b.cpu_ratio();
  });
  std::cout << "the most CPU time beside its peer's: " << one.name << '\n';
  return one.cpu_ratio();
}

double spawn_end_us(const bench::results& all, bool quick) {
  double highest = 0;
  for (const auto* what : bench::all_programs()) {
    if (std::string{"spawn_end"} == what->name)
      for (const int workers : worker_counts())
        highest = std::max(highest, all.median_ns(name_of(*what, ours, quick, {workers})) / 1000
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

/// A figure of all programs in some settings.
void add_figure(bench::plan& plan, const std::string& name, const std::vector<setting>& settings,
                double (*figure)(const std::vector<comparison>&)) {
  plan.figure(name, [=, quick = plan.quick()](const bench::results& all) {
    return figure(comparisons(all, quick, settings));
  });
}

const bench::suite versus_caf_suite{[](bench::plan& plan) {
  const bool quick = plan.quick();
  for (const auto& settings : {undisturbed(), beside_burner()})
    for (const auto* what : bench::all_programs())
      for (const auto at : settings) {
        add_case(plan, *what, ours, at);
        for (const auto* peer : peers)
          add_case(plan, *what, peer, at);
      }
  for (const auto at : undisturbed())
    add_figure(plan, "geomean_vs_caf" + suffix_of(at.workers), {at}, speed);
  add_figure(plan, "worst_vs_caf", undisturbed(), worst_speed);
  add_figure(plan, "cpu_vs_caf", undisturbed(), cpu);
  add_figure(plan, "cpu_worst_vs_caf", undisturbed(), worst_cpu);
  add_figure(plan, "burner_geomean_vs_caf", beside_burner(), speed);
  add_figure(plan, "burner_worst_vs_caf", beside_burner(), worst_speed);
  add_figure(plan, "burner_cpu_vs_caf", beside_burner(), cpu);
  plan.figure("spawn_end_us", [=](const bench::results& all) { return spawn_end_us(all, quick); });
  plan.measure("tree_rss_vs_caf", [=] { return tree_memory(quick); });
}};

} // namespace
