// Cost of the decision how urgent a task is: the clock, the estimate of its type's runtime, the
// key. And the cost of learning from a runtime.

#include "bench/support/bench.hpp"

#include <basal/executors/executor_pool.hpp>
#include <basal/priority/background_pool.hpp>
#include <basal/priority/runtime_tracker.hpp>

#include <array>
#include <chrono>
#include <cmath>

using namespace basal;

namespace {

constexpr std::size_t types = 64;
constexpr int rounds = 16;

std::array<priority::task_key, types> keys() {
  std::array<priority::task_key, types> result;
  for (std::size_t i = 0; i < types; ++i)
    result[i] = priority::task_key{"eval", i};
  return result;
}

void decide(benchmark::State& state) {
  executors::pool_config config;
  executors::executor_pool executors{config};
  auto& pool = priority::background_pool::of(executors);
  const auto all = keys();
  for (const auto k : all)
    for (int i = 0; i < 5; ++i)
      pool.runtimes().record(k, std::chrono::milliseconds{10});
  bench::check(state, true, [&] {
    bool rising = true;
    double before = 0;
    for (int r = 0; r < rounds; ++r)
      for (const auto k : all) {
        const double key = pool.key_now({priority::level::normal, k});
        rising = rising && key >= before; // equal estimates: in the order of time
        before = key;
      }
    return rising && before >= 5.01;
  });
}

void record(benchmark::State& state) {
  priority::runtime_tracker tracker{4096};
  const auto all = keys();
  bench::check(state, true, [&] {
    for (int r = 0; r < rounds; ++r)
      for (const auto k : all)
        tracker.record(k, std::chrono::milliseconds{10});
    return std::abs(tracker.estimate_s(all[7]) - 0.010) < 1e-12; // to the last digit but one
  });
}

const bench::suite decision_suite{[](bench::plan& plan) {
  const auto decision = bench::case_name("decide", types, "basal", 1);
  const auto recording = bench::case_name("record", types, "basal", 1);
  plan.add(decision, &decide, {.baseline = decision});
  plan.add(recording, &record, {.baseline = recording});
  plan.figure("decision_ns", bench::ns_per_item(decision, types * rounds));
  plan.figure("record_ns", bench::ns_per_item(recording, types * rounds));
}};

} // namespace
