// A pure function that does nothing, called from an executor as a handler does it, and from a
// plain thread, one call after the other: what it costs to be a computation of one's own.
// Regression microbenchmark.

#include "bench/support/bench.hpp"
#include "bench/support/cpus.hpp"

#include <basal/posse/posse.hpp>

namespace {

using namespace basal;

long next(posse::member&, long x) {
  return x + 1;
}

inline constexpr posse::pure<next> pure_next{"next"};

const bench::suite call_suite{[](bench::plan& plan) {
  constexpr long calls = 100'000;
  auto name = bench::case_name("call", calls, "basal", 1);
  plan.add(name, [=](benchmark::State& state) {
    posse::runtime_config config;
    config.compute_executors = 1;
    posse::runtime runtime{config};
    bench::check(state, calls, [&] {
      return runtime.run([&](posse::member&) {
        long x = 0;
        for (long i = 0; i < calls; ++i)
          x = pure_next(runtime, bench::opaque(x));
        return x;
      });
    });
  });
  plan.figure("pure_call_ns", bench::ns_per_item(name, calls));

  const auto from_outside
    = bench::case_name("plain_call", calls, "basal", bench::cpu_counts().back());
  plan.add(from_outside, [=](benchmark::State& state) {
    posse::runtime runtime;
    bench::check(state, calls, [&] {
      long x = 0;
      for (long i = 0; i < calls; ++i)
        x = pure_next(runtime, bench::opaque(x));
      return x;
    });
  });
  plan.figure("call_awake_us", bench::ns_per_item(from_outside, calls * 1e3));
}};

} // namespace
