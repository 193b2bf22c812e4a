// MB1: what a decision costs.

#include "bench/evaluation/report.hpp"
#include "bench/evaluation/work.hpp"

#include <benchmark/benchmark.h>

#include <basal/mab/mab.hpp>

#include <deque>

namespace basal::evaluation {

using namespace mab;

namespace {

constexpr load some_load{4, 2, 100};
constexpr int batch = 50; // timed together: a pair of clock reads costs as much as a decision

struct distribution {
  double mean = 0;
  double p50 = 0;
  double p99 = 0;
};

// Times batches of `step`, in ns a step.
template <class Step>
distribution time_batches(int batches, Step step) {
  std::vector<double> ns;
  double sum = 0;
  for (int i = 0; i < batches; ++i) {
    const auto start = clock::now();
    for (int j = 0; j < batch; ++j)
      step();
    ns.push_back(us_since(start) * 1000 / batch);
    sum += ns.back();
  }
  return {sum / batches, median(ns), percentile(ns, 0.99)};
}

void cycle(chooser& c, splitmix64& random) {
  auto d = c.choose(some_load, random);
  d.finish({.cost = microseconds{50}, .function_time = microseconds{50}});
}

std::vector<std::string> row(const std::string& name, const distribution& d,
                             const std::string& source) {
  return {name, number(d.mean), number(d.p50), number(d.p99), source};
}

} // namespace

void decision_overhead(report& r, const options& o) {
  const int batches = o.quick ? 200 : 2000;
  splitmix64 random{1};
  const knobs k;

  family shared{"cold"};
  std::deque<chooser> choosers;
  const auto cold = time_batches(batches, [&] {
    auto d = choosers.emplace_back(shared).choose(some_load, random);
    benchmark::DoNotOptimize(d.choice());
  });

  family warm_family{"warm", k};
  chooser c{warm_family};
  for (int i = 0; i < 100; ++i)
    cycle(c, random);
  const auto warm = time_batches(batches, [&] {
    auto d = c.choose(some_load, random);
    benchmark::DoNotOptimize(d.choice());
  });
  const auto full = time_batches(batches, [&] { cycle(c, random); });

  r.heading("MB1. Decision overhead, in ns");
  r.table({{"operation", "mean", "P50", "P99", "source: mean/P50/P99"},
           row("choose, cold (a new actor's chooser and its first decision)", cold, "211/104/254"),
           row("choose, warm", warm, "113/109/148"),
           row("choose and finish", full, "182/172/210")});
  r.paragraph("Model: corrected. Batches of " + std::to_string(batch)
              + " are timed, so that P99 is that of batches. The source times single calls: two "
                "clock reads (about 50 ns) are part of each of its figures, and its scheduler is "
                "a mutex and two hash maps, which a chooser per actor needs not. Its cold mean "
                "lies near its P99 because of one outlier: read medians.");
  using bench::standing;
  r.judge({"MB1", "choose cold, P50, ns", standing::absolute, "104", cold.p50});
  r.judge({"MB1", "choose warm, P50, ns", standing::absolute, "109", warm.p50});
  r.judge({"MB1", "choose and finish, P50, ns", standing::absolute, "172", full.p50});
  r.judge({"MB1", "choose warm over its budget of 200 ns (REQ-PERF-1)", standing::ratio, "0.55",
           warm.p50 / 200, bench::at_most(1)});
  r.judge({"MB1", "choose and finish over that budget", standing::ratio, "0.86", full.p50 / 200,
           bench::at_most(1)});
}

} // namespace basal::evaluation
