/// How a module declares its benchmarks and the headline figures made of them.
#pragma once

#include "bench/support/keep.hpp"
#include "bench/support/results.hpp"

#include <benchmark/benchmark.h>

#include <concepts>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace basal::bench {

/// "workload/size/impl/threads", the name that every case has.
template <class Size>
std::string case_name(std::string_view workload, const Size& size, std::string_view impl,
                      int threads) {
  std::string text{workload};
  text += '/';
  if constexpr (std::convertible_to<Size, std::string_view>)
    text += std::string_view{size};
  else
    text += std::to_string(size);
  return text.append("/").append(impl).append("/").append(std::to_string(threads));
}

struct case_options {
  std::string baseline = {}; ///< the case whose time is 1.00 in this row's ratio column
  bool manual_time = false;  ///< the case calls state.SetIterationTime() itself
  /// Of the least time of a repetition (options::min_time_s), what this case takes: less where a
  /// module has many cases.
  double min_time_share = 1;
  int iterations = 0; ///< of each repetition; 0: as many as its least time asks for
};

/// Computes a figure from measured cases; may throw not_measured.
using from_results = std::function<double(const results&)>;

/// Median time of `numerator` over median time of `denominator`.
from_results ratio(std::string numerator, std::string denominator);

/// Median time in ns of one of the `items` things that an iteration of the case does.
from_results ns_per_item(std::string name, double items);

/// The measurements of one executable. Filled by suites before anything runs.
class plan {
public:
  struct case_entry {
    std::string name;
    std::function<void(benchmark::State&)> run;
    case_options options;
  };
  struct figure_entry {
    std::string name;
    from_results compute;
    bool measures; ///< takes its own time rather than looking at cases
  };

  explicit plan(bool quick) : quick_(quick) {
  }

  /// Choose smaller sizes: all cases of a module together should take less than 50 s.
  bool quick() const {
    return quick_;
  }

  /// Declares a case. `run` is called once or more per repetition: whatever it sets up (a
  /// runtime, say) lives in it, before its timing loop, and is gone when other cases run.
  /// Throws std::logic_error on a name of another form or one that is taken.
  void add(std::string name, std::function<void(benchmark::State&)> run, case_options options = {});

  /// Declares a headline figure made of cases: printed last as `figure NAME VALUE`.
  void figure(std::string name, from_results compute);

  /// Declares a figure that is no timing loop (idle wake-ups, say): `measure` is called once, after
  /// all cases. An exception from it fails the run.
  void measure(std::string name, std::function<double()> measure);

  const std::vector<case_entry>& cases() const {
    return cases_;
  }
  const std::vector<figure_entry>& figures() const {
    return figures_;
  }

private:
  void add_figure(figure_entry entry);

  bool quick_;
  std::vector<case_entry> cases_;
  std::vector<figure_entry> figures_;
};

/// The same number, but the compiler cannot know it: keeps it from computing the answer of
/// `work(opaque(n))` once, before the loop.
template <std::integral T>
T opaque(T value) {
  asm volatile("" : "+r"(value));
  return value;
}

/// The usual timing loop: runs `work` and fails the case when its answer is not `expected`.
template <class T, class Work>
void check(benchmark::State& state, const T& expected, Work&& work) {
  for (auto _ : state) {
    const auto answer = work();
    keep(answer);
    if (!(answer == expected)) {
      state.SkipWithError("wrong answer");
      return;
    }
  }
}

/// A namespace-scope object that adds cases and figures once the command line is known.
class suite {
public:
  explicit suite(void (*declare)(plan&));

  /// Calls all suites of the program, in the order of their construction.
  static void declare_all(plan& into);
};

} // namespace basal::bench
