/// A program that runs serially, on basal and on its peers, at 1 and 2 threads.
#pragma once

#include "bench/support/bench.hpp"

#include <basal/posse/posse.hpp>

#include <omp.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace basal::bench {

/// What the summary figures are made of: names of cases.
struct program_names {
  std::string serial;
  std::string basal_2;
  std::vector<std::string> peers_2;
};

/// All programs of this executable that the summary is about.
std::vector<program_names>& all_programs();

/// Declares the cases of one program. Every implementation returns the answer,
/// which must be the expected one.
template <class Answer>
class program {
public:
  program(plan& into, std::string name, std::string size, Answer expected)
    : plan_(into), name_(std::move(name)), size_(std::move(size)), expected_(std::move(expected)) {
  }

  program(const program&) = delete;
  program& operator=(const program&) = delete;

  ~program() {
    if (summarised_)
      all_programs().push_back({serial_, case_of("basal", 2), std::move(peers_2_)});
  }

  /// For what is too short to be worth a second thread: it would only raise the
  /// mean over peers and lower that over serial.
  void leave_out_of_summary() {
    summarised_ = false;
  }

  /// Called before the timing loop. Like the next, to be set before the cases.
  void setup(std::function<void()> function) {
    setup_ = std::move(function);
  }

  /// Called before every iteration, outside of what is timed.
  void prepare(std::function<void()> function) {
    prepare_ = std::move(function);
  }

  /// The baseline: first.
  template <class Run>
  void serial(Run run, const char* impl = "serial") {
    serial_ = case_of(impl, 1);
    add(impl, 1, [=](benchmark::State&, auto loop) { loop(run); });
  }

  /// A serial form to look at, which is not what the figures compare with.
  template <class Run>
  void other_serial(Run run, const char* impl) {
    add(impl, 1, [=](benchmark::State&, auto loop) { loop(run); });
  }

  /// `run(posse::runtime&)`, called on an executor, as a handler would.
  template <class Run>
  void basal(Run run) {
    for (int threads : {1, 2})
      add("basal", threads, [=](benchmark::State&, auto loop) {
        posse::runtime_config config;
        config.compute_executors = static_cast<std::size_t>(threads);
        posse::runtime runtime{config};
        runtime.run([&](posse::member&) { loop([&] { return run(runtime); }); });
      });
  }

  // Peers run at one thread only in full runs: no figure needs that.

  /// `run()`, in an arena of its own.
  template <class Run>
  void tbb(Run run) {
    in_arena("tbb", run);
  }

  /// The same: libstdc++'s parallel algorithms run on oneTBB.
  template <class Run>
  void std_par(Run run) {
    in_arena("std_par", run);
  }

  /// `run()`, which opens its own parallel regions.
  template <class Run>
  void openmp(Run run) {
    for (int threads = plan_.quick() ? 2 : 1; threads <= 2; ++threads)
      add("openmp", threads, [=](benchmark::State&, auto loop) {
        omp_set_num_threads(threads);
        loop(run);
      });
    peers_2_.push_back(case_of("openmp", 2));
  }

  std::string case_of(const char* impl, int threads) const {
    return case_name(name_, size_, impl, threads);
  }

private:
  template <class Run>
  void in_arena(const char* impl, Run run) {
    for (int threads = plan_.quick() ? 2 : 1; threads <= 2; ++threads)
      add(impl, threads, [=](benchmark::State&, auto loop) {
        ::tbb::global_control limit{::tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(threads)};
        ::tbb::task_arena arena{threads};
        loop([&] { return arena.execute(run); });
      });
    peers_2_.push_back(case_of(impl, 2));
  }

  template <class Case>
  void add(const char* impl, int threads, Case measured) {
    plan_.add(case_of(impl, threads),
              [measured, expected = expected_, setup = setup_,
               prepare = prepare_](benchmark::State& state) {
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
                    benchmark::DoNotOptimize(answer);
                    if (!(answer == expected)) {
                      state.SkipWithError("wrong answer");
                      return;
                    }
                  }
                });
              },
              {.baseline = serial_});
  }

  plan& plan_;
  std::string name_;
  std::string size_;
  Answer expected_;
  std::function<void()> setup_;
  std::function<void()> prepare_;
  std::string serial_;
  std::vector<std::string> peers_2_;
  bool summarised_ = true;
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
