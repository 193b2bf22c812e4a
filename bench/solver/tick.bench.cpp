// The tick scheduler alone: what one dispatch costs beside the work that it dispatches.
// RuVector's ADR-STS-009, which it is after, names 98 ns a tick and 11 million a second as goals.

#include "bench/support/bench.hpp"

#include <basal/solver/detail/tick_scheduler.hpp>

#include <chrono>
#include <cstdint>

using namespace basal;

namespace {

/// Not inlined, as a real step would not be.
struct empty_steps {
  std::uint64_t count = 0;

  [[gnu::noinline]] solver::step_report step() {
    ++count;
    return {1, solver::state::running};
  }
};

template <class Observer = solver::nobody_looks>
std::uint64_t ticks(std::uint64_t n, solver::budget limits, Observer observer = {}) {
  empty_steps program;
  limits.ticks = n;
  return solver::run_ticks(program, limits, observer).ticks;
}

/// The ticks with a look at the clock at every one.
std::uint64_t ticks_with_clock(std::uint64_t n) {
  empty_steps program;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::hours{1};
  std::uint64_t done = 0;
  while (done < n && std::chrono::steady_clock::now() < deadline) {
    if (program.step().state != solver::state::running)
      break;
    ++done;
  }
  return done;
}

/// The steps without a scheduler.
std::uint64_t calls(std::uint64_t n) {
  empty_steps program;
  for (std::uint64_t i = 0; i < n; ++i)
    program.step();
  return program.count;
}

constexpr std::uint64_t n = 1'000'000;

const bench::suite tick_suite{[](bench::plan& plan) {
  const auto plain = bench::case_name("tick", n, "calls", 1);
  plan.add(
    plain,
    [](benchmark::State& state) { bench::check(state, n, [] { return calls(bench::opaque(n)); }); },
    {.baseline = plain});
  const auto ours = bench::case_name("tick", n, "basal", 1);
  plan.add(ours,
           [](benchmark::State& state) {
             bench::check(state, n, [] { return ticks(bench::opaque(n), {}); });
           },
           {.baseline = plain});
  plan.add(bench::case_name("tick", n, "basal-time-limit", 1),
           [](benchmark::State& state) {
             bench::check(state, n,
                          [] { return ticks(bench::opaque(n), {.time = std::chrono::hours{1}}); });
           },
           {.baseline = plain});
  plan.add(bench::case_name("tick", n, "clock-each-tick", 1),
           [](benchmark::State& state) {
             bench::check(state, n, [] { return ticks_with_clock(bench::opaque(n)); });
           },
           {.baseline = plain});
  const auto tick_ns = bench::ns_per_item(ours, static_cast<double>(n));
  plan.figure("tick_ns", tick_ns);
  plan.figure("ticks_per_s", [=](const bench::results& r) { return 1e9 / tick_ns(r); });
}};

} // namespace
