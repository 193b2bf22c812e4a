/// A program that runs serially, on basal and on its peers, at 1, 2 and all CPUs.
#pragma once

#include "bench/support/bench.hpp"
#include "bench/support/cpus.hpp"

#include <basal/executors/hand_over.hpp>
#include <basal/posse/posse.hpp>

#include <omp.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace basal::bench {

/// Which figures over several programs a program counts for; see summary.bench.cpp.
enum class counted_in { programs, loops, uneven, regions, burner, nothing };

/// Names of the cases that the summary figures are made of.
struct program_names {
  struct on_cpus {
    int cpus;
    std::string basal;
    std::vector<std::string> peers;
  };

  std::string name; ///< "fib/37"
  counted_in group;
  std::string serial;
  std::vector<on_cpus> parallel; ///< 2 CPUs and more
};

/// All programs of this executable.
std::vector<program_names>& all_programs();

/// Declares the cases of one program. Every implementation returns the answer,
/// which must be the expected one. At n CPUs the whole process is confined to n
/// CPUs, and basal and its peers choose how many threads they start by default.
template <class Answer>
class program {
public:
  program(plan& into, std::string name, std::string size, Answer expected,
          counted_in group = counted_in::programs)
    : plan_(into), name_(std::move(name)), size_(std::move(size)), expected_(std::move(expected)) {
    names_.name = name_ + '/' + size_;
    names_.group = group;
  }

  program(const program&) = delete;
  program& operator=(const program&) = delete;

  ~program() {
    for (int cpus : cpu_counts())
      if (cpus > 1)
        names_.parallel.push_back({cpus, case_of("basal", cpus), peers_at(cpus)});
    all_programs().push_back(std::move(names_));
  }

  /// Called before the timing loop. Like the next two, to be set before the cases.
  void setup(std::function<void()> function) {
    setup_ = std::move(function);
  }

  /// Called before every iteration, outside of what is timed.
  void prepare(std::function<void()> function) {
    prepare_ = std::move(function);
  }

  /// The parallel cases run while another process burns a CPU.
  void beside_burner() {
    beside_burner_ = true;
  }

  /// The baseline: first.
  template <class Run>
  void serial(Run run, const char* impl = "serial") {
    names_.serial = case_of(impl, 1);
    other_serial(run, impl);
  }

  /// A serial form to look at, which is not what the figures compare with.
  template <class Run>
  void other_serial(Run run, const char* impl) {
    add(impl, 1, false, [=](benchmark::State&, auto loop) { loop(run); });
  }

  /// `run(posse::runtime&)`, called on an executor, as a handler would. How many
  /// looks for a theft came to which verdict stands in the JSON.
  template <class Run>
  void basal(Run run, const char* impl = "basal") {
    for (int cpus : cpu_counts())
      add(impl, cpus, beside_burner_, [=](benchmark::State& state, auto loop) {
        posse::runtime runtime;
        if (runtime.config().compute_executors != static_cast<std::size_t>(cpus))
          throw std::logic_error("not an executor for each CPU");
        auto handler = [&](executors::executor&) { loop([&] { return run(runtime); }); };
        executors::awaited_call handed{handler};
        runtime.await(handed);
        handed.take();
        runtime.stats().verdicts.for_each([&](posse::theft_verdict verdict, std::uint64_t looks) {
          state.counters[posse::describe(verdict).name]
            = benchmark::Counter{static_cast<double>(looks), benchmark::Counter::kAvgIterations};
        });
      });
  }

  // Peers run at one CPU only in full runs: no figure needs that.

  /// `run()`, in an arena of its own.
  template <class Run>
  void tbb(Run run, const char* impl = "tbb") {
    peer(impl, [=](int cpus, auto loop) {
      // oneTBB counts the CPUs once a process.
      ::tbb::global_control limit{::tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(cpus)};
      ::tbb::task_arena arena{cpus};
      loop([&] { return arena.execute(run); });
    });
  }

  /// The same: libstdc++'s parallel algorithms run on oneTBB.
  template <class Run>
  void std_par(Run run) {
    tbb(run, "std_par");
  }

  /// `run()`, which opens its own parallel regions.
  template <class Run>
  void openmp(Run run, const char* impl = "openmp") {
    peer(impl, [=](int cpus, auto loop) {
      omp_set_num_threads(cpus); // libgomp counts the CPUs once a process, too
      loop(run);
    });
  }

  std::string case_of(const char* impl, int cpus) const {
    return case_name(name_, size_, impl, cpus);
  }

private:
  template <class Case>
  void peer(const char* impl, Case measured) {
    peers_.push_back(impl);
    for (int cpus : cpu_counts())
      if (cpus > 1 || !plan_.quick())
        add(impl, cpus, beside_burner_,
            [=](benchmark::State&, auto loop) { measured(cpus, loop); });
  }

  std::vector<std::string> peers_at(int cpus) const {
    std::vector<std::string> cases;
    for (const char* impl : peers_)
      cases.push_back(case_of(impl, cpus));
    return cases;
  }

  template <class Case>
  void add(const char* impl, int cpus, bool beside_burner, Case measured) {
    // With a full share all cases would take a quarter of an hour. Time slices beside a busy
    // process last some milliseconds: those cases need more of them.
    const double share = beside_burner_ ? 0.2 : 0.05;
    plan_.add(
      case_of(impl, cpus),
      [=, expected = expected_, setup = setup_, prepare = prepare_](benchmark::State& state) {
        const cpu_limit limit{cpus};
        std::optional<cpu_burner> burner;
        if (beside_burner)
          burner.emplace();
        if (setup)
          setup();
        measured(state, [&](auto&& run) {
          for (auto _ : state) {
            if (prepare) {
              state.PauseTiming();
              prepare();
              state.ResumeTiming();
            }
            const auto answer = run();
            keep(answer);
            if (!(answer == expected)) {
              state.SkipWithError("wrong answer");
              return;
            }
          }
        });
      },
      {.baseline = names_.serial, .min_time_share = share});
  }

  plan& plan_;
  std::string name_;
  std::string size_;
  Answer expected_;
  std::function<void()> setup_;
  std::function<void()> prepare_;
  std::vector<const char*> peers_;
  program_names names_;
  bool beside_burner_ = false;
};

/// A sum of floating-point numbers: right if it is within 0.1 % of the exact one.
struct about {
  double value;

  friend bool operator==(const about& a, const about& b) {
    auto difference = a.value < b.value ? b.value - a.value : a.value - b.value;
    return difference <= 1e-3 * (b.value < 0 ? -b.value : b.value);
  }
};

} // namespace basal::bench
