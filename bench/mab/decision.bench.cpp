// Cost of a decision. The cost of an offload and the gain by decisions need executors: see the
// other files. The tables of the source: bench/evaluation.
//
// Peer: mutex_map_chooser. loom-rs itself (Rust) is left out; it publishes 113 ns for a
// choice and 182 ns for a choice with its outcome, on its author's machine.

#include "bench/mab/mutex_map_chooser.hpp"
#include "bench/support/bench.hpp"

#include <basal/mab/mab.hpp>

#include <array>
#include <cmath>
#include <deque>
#include <memory>

using namespace basal;

namespace {

// The load of the source's benchmark, and a handler near the break-even line, so that
// neither arm is a foregone conclusion.
constexpr mab::load some_load{4, 2, 100};
constexpr int batch = 64;

constexpr mab::outcome outcome_of(mab::arm ran, double function_us) {
  const double cost_us = ran == mab::arm::inline_here ? function_us : function_us + 12;
  return {.cost = mab::microseconds{cost_us}, .function_time = mab::microseconds{function_us}};
}

struct actor {
  explicit actor(mab::family& shared) : chooser(shared) {
  }

  template <class Random>
  void cycle(Random& random, double function_us) {
    auto d = chooser.choose(some_load, random);
    d.finish(outcome_of(d.choice(), function_us));
  }

  mab::chooser chooser;
};

// Function times that vary as real ones do, made beforehand.
std::array<double, 1024> varied_us() {
  std::array<double, 1024> result;
  mab::splitmix64 random{7};
  for (auto& x : result)
    x = 50 * std::exp(0.2 * mab::standard_normal(random));
  return result;
}

// Every one of `batch` choices is dropped without an outcome: choosing alone.
void choose_warm(benchmark::State& state, const mab::knobs& k) {
  mab::family shared{"bench", k};
  actor a{shared};
  mab::splitmix64 random{1};
  for (const double us : varied_us())
    a.cycle(random, us);
  const auto before = a.chooser.counters()[mab::event::abandoned];
  std::uint64_t expected = 0;
  for (auto _ : state) {
    for (int i = 0; i < batch; ++i) {
      auto d = a.chooser.choose(some_load, random);
      benchmark::DoNotOptimize(d.choice());
    }
    expected += batch;
  }
  if (a.chooser.counters()[mab::event::abandoned] - before != expected)
    state.SkipWithError("choices got lost");
}

void cycle_warm(benchmark::State& state, const mab::knobs& k) {
  mab::family shared{"bench", k};
  actor a{shared};
  mab::splitmix64 random{1};
  const auto us = varied_us();
  std::uint64_t expected = 0;
  for (auto _ : state) {
    for (int i = 0; i < batch; ++i)
      a.cycle(random, us[expected++ % us.size()]);
  }
  if (a.chooser.counters()[mab::event::finished] != expected)
    state.SkipWithError("outcomes got lost");
}

// As many actors as a busy server has, round robin: each chooser comes from memory.
void cycle_cold_cache(benchmark::State& state, int actors) {
  mab::family shared{"bench"};
  std::deque<actor> all;
  for (int i = 0; i < actors; ++i)
    all.emplace_back(shared);
  mab::splitmix64 random{1};
  const auto us = varied_us();
  std::uint64_t done = 0;
  for (auto _ : state) {
    for (int i = 0; i < batch; ++i, ++done)
      all[done % all.size()].cycle(random, us[done % us.size()]);
  }
  std::uint64_t seen = 0;
  for (const auto& x : all)
    seen += x.chooser.counters()[mab::event::finished];
  if (seen != done)
    state.SkipWithError("outcomes got lost");
}

void peer_cycle(benchmark::State& state, int keys) {
  mab::bench::mutex_map_chooser chooser{mab::knobs{}};
  const auto us = varied_us();
  std::uint64_t done = 0;
  for (auto _ : state) {
    for (int i = 0; i < batch; ++i, ++done) {
      const auto [id, choice] = chooser.choose(done % static_cast<std::uint64_t>(keys), some_load);
      const auto o = outcome_of(choice, us[done % us.size()]);
      chooser.finish(id, o.cost.count(), o.function_time->count());
    }
  }
}

mab::knobs with(mab::policy chosen_by) {
  mab::knobs k;
  k.chosen_by = chosen_by;
  return k;
}

const bench::suite decision_suite{[](bench::plan& plan) {
  const std::string size = "x" + std::to_string(batch);
  const auto choose = bench::case_name("choose", size, "basal", 1);
  plan.add(choose, [](benchmark::State& s) { choose_warm(s, {}); }, {.baseline = choose});

  const auto cycle = bench::case_name("cycle", size, "basal", 1);
  const auto peer = bench::case_name("cycle", size, "mutex_map", 1);
  plan.add(cycle, [](benchmark::State& s) { cycle_warm(s, {}); }, {.baseline = cycle});
  plan.add(peer, [](benchmark::State& s) { peer_cycle(s, 1); }, {.baseline = cycle});
  for (const auto other : {mab::policy::ucb1, mab::policy::static_threshold})
    plan.add(bench::case_name("cycle", size, to_string(other), 1),
             [=](benchmark::State& s) { cycle_warm(s, with(other)); }, {.baseline = cycle});

  const int actors = plan.quick() ? 10'000 : 100'000;
  const auto many = bench::case_name("cycle_actors", actors, "basal", 1);
  plan.add(many, [=](benchmark::State& s) { cycle_cold_cache(s, actors); }, {.baseline = many});
  plan.add(bench::case_name("cycle_actors", actors, "mutex_map", 1),
           [=](benchmark::State& s) { peer_cycle(s, actors); }, {.baseline = many});

  plan.figure("choose_ns", bench::ns_per_item(choose, batch));
  plan.figure("cycle_ns", bench::ns_per_item(cycle, batch));
  plan.figure("cycle_mutex_map_ns", bench::ns_per_item(peer, batch));
  plan.figure("cycle_vs_mutex_map", bench::ratio(cycle, peer));
}};

} // namespace
