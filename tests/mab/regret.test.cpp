// How much more the choices cost than the better of always-inline and always-offload.

#include <basal/mab/chooser.hpp>

#include "mab/simulation.hpp"
#include "support/catch.hpp"

#include <cmath>
#include <deque>
#include <memory>
#include <vector>

using namespace basal::mab;
using namespace basal::mab::simulation;

namespace {

constexpr double function_times_us[]
  = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10'000};
constexpr double pressures[] = {0, 0.35, 0.7, 1.5, 2.2, 2.9, 3.8, 7.6, 10};
constexpr double bound = 0.05;

} // namespace

TEST_CASE("steady handlers: regret is at most 5 % after 200 observations, for 1 us to 10 ms") {
  const auto when = GENERATE(asks::always, asks::unless_granted);
  for (const double overhead_us : {5.0, 12.0})
    for (const double sigma : {0.0, 0.3})
      for (const double us : function_times_us)
        for (const double pressure : pressures)
          for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            const world w{us, overhead_us, sigma, sigma};
            actor a{knobs{}, seed, when};
            a.run(w, load_of(pressure), 200);
            const auto t = a.run(w, load_of(pressure), 1000);
            INFO(us << " us, pressure " << pressure << ", overhead " << overhead_us << ", sigma "
                    << sigma << ", seed " << seed << ", inline " << t.inline_share() << ", grants "
                    << (when == asks::unless_granted));
            CHECK(t.regret() <= bound);
          }
}

TEST_CASE("shifting handlers and pressures: at most 5 % from 200 observations after the shift") {
  const auto when = GENERATE(asks::always, asks::unless_granted);
  double sum = 0;
  int cells = 0;
  for (const std::size_t history : {200u, 5000u})
    for (const double from_us : {1.0, 10.0, 50.0, 100.0, 200.0, 1000.0})
      for (const double to_us : {1.0, 10.0, 50.0, 100.0, 200.0, 1000.0})
        for (const double from : {0.7, 2.9})
          for (const double to : {0.35, 0.7, 2.9, 10.0}) {
            actor a{knobs{}, 7, when};
            const world before{from_us, 12, 0.3, 0.3};
            const world after{to_us, 12, 0.3, 0.3};
            a.run(before, load_of(from), history);
            a.run(after, load_of(to), 200);
            const auto t = a.run(after, load_of(to), 1000);
            INFO(from_us << " to " << to_us << " us, pressure " << from << " to " << to
                         << ", history " << history << ", inline " << t.inline_share());
            CHECK(t.regret() <= bound);
            sum += t.regret();
            ++cells;
          }
  CHECK(sum / cells < 0.005);
}

TEST_CASE("worlds that change again and again: at most 5 % in each, from 200 observations on") {
  std::size_t separate_above = 0;
  std::size_t worlds = 0;
  knobs separate;
  separate.model = cost_model::separate_arms;
  for (std::uint64_t seed = 1; seed <= 30; ++seed)
    for (const double sigma : {0.0, 0.3}) {
      for (const auto when : {asks::always, asks::unless_granted})
        for (const double regret : wander({}, seed, false, sigma, when)) {
          INFO("seed " << seed << ", sigma " << sigma << ", grants "
                       << (when == asks::unless_granted));
          CHECK(regret <= bound);
          worlds += when == asks::always;
        }
      for (const double regret : wander(separate, seed, false, sigma))
        separate_above += regret > bound;
    }
  // Why function time and overhead are learned apart: with one cost per arm, the arm that
  // is not chosen goes stale.
  CHECK(separate_above > worlds / 100);
}

TEST_CASE("worlds whose overhead changes, too, cost little on average") {
  // A handler that runs inline does not see the overhead change: it learns that by trying.
  const auto when = GENERATE(asks::always, asks::unless_granted);
  double sum = 0;
  std::size_t above = 0;
  std::size_t worlds = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed)
    for (const double regret : wander({}, seed, true, 0.3, when)) {
      sum += regret;
      above += regret > bound;
      ++worlds;
    }
  CHECK(sum / static_cast<double>(worlds) < 0.01);
  CHECK(above < worlds / 50);
}

// While what a trial costs did not matter to how often one was made, a handler of 1 us lost two
// thirds of its time to offloads of 1 ms each.
TEST_CASE("offloads that cost far more than was calibrated are tried seldom enough: at most 5 %") {
  const auto when = GENERATE(asks::always, asks::unless_granted);
  for (const double overhead_us : {40.0, 200.0, 1000.0})
    for (const double us : {1.0, 2.0, 5.0, 10.0, 20.0})
      for (const double pressure : {0.35, 2.9, 10.0}) {
        const world w{us, overhead_us, 0.3, 0.3};
        actor a{knobs{}, 11, when};
        a.run(w, load_of(pressure), 200);
        const auto t = a.run(w, load_of(pressure), 20'000);
        INFO(us << " us, overhead " << overhead_us << ", pressure " << pressure << ", offloads "
                << t.offload_runs);
        CHECK(t.regret() <= bound);
      }
}

TEST_CASE("mixed handlers: choosing is no worse than the better static policy") {
  // 60 % 10 us, 30 % 100 us, 10 % 500 us, one chooser for all, as in a stream of items.
  for (const double pressure : {0.35, 0.7, 1.5, 2.9}) {
    actor a;
    splitmix64 mix{3};
    tally t;
    for (int i = 0; i < 5000; ++i) {
      if (i == 200)
        t = {};
      const double u = uniform(mix);
      a.step({.function_us = u < 0.6 ? 10.0 : u < 0.9 ? 100.0 : 500.0}, load_of(pressure), t);
    }
    INFO("pressure " << pressure << ", inline " << t.inline_share());
    CHECK(t.regret() <= bound);
  }
}

// Every new actor starts cold. Executors take the first messages of ten thousand new actors
// whose handler takes 3 ms; a decision sees the outcomes of those that ended before it.
TEST_CASE("cold-start storm: no more 3 ms handlers run inline than there are executors") {
  for (const std::uint32_t executors : {1u, 2u, 4u, 16u}) {
    family shared{"storm"};
    std::vector<std::unique_ptr<chooser>> actors;
    splitmix64 random{1};
    struct running {
      double ends_us;
      decision made;
    };
    std::deque<running> busy; // all take equally long: the first to start is the first to end
    double now_us = 0;
    std::size_t inlined = 0;
    std::size_t executors_free = executors;
    const auto end_one = [&] {
      auto& x = busy.front();
      const bool offloaded = x.made.choice() == arm::offload;
      now_us = std::max(now_us, x.ends_us);
      x.made.finish(
        {.cost = microseconds{offloaded ? 3012.0 : 3000.0}, .function_time = microseconds{3000}});
      executors_free += !offloaded;
      busy.pop_front();
    };
    for (int i = 0; i < 10'000; ++i) {
      while (executors_free == 0 || (!busy.empty() && busy.front().ends_us <= now_us))
        end_one();
      actors.push_back(std::make_unique<chooser>(shared));
      auto d = actors.back()->choose({executors, 0, 0}, random);
      if (d.choice() == arm::inline_here) {
        ++inlined;
        --executors_free;
      }
      now_us += 1; // a decision and what goes with it
      busy.push_back({now_us + 3000, std::move(d)});
    }
    while (!busy.empty())
      end_one();
    INFO(executors << " executors");
    CHECK(inlined >= 1);
    CHECK(inlined <= executors);
  }
}

TEST_CASE("ten million decisions later everything is finite and as good as ever") {
  const auto when = GENERATE(asks::always, asks::unless_granted);
  actor a{knobs{}, 5, when};
  const world w{20, 12, 0.3, 0.3};
  a.run(w, load_of(0.7), 9'990'000);
  const auto t = a.run(w, load_of(0.7), 10'000);
  CHECK(t.regret() < 0.02);
  const auto& c = a.decider();
  // The runs of a grant are counted when it ends.
  CHECK(c.counters().decisions() <= 10'000'000);
  CHECK(c.counters().decisions() + grant::max_runs > 10'000'000);
  CHECK(c.counters()[event::finished] == c.counters().decisions());
  CHECK(c.counters()[event::shift] < 100);
  CHECK(std::exp(c.believed().inline_belief().mean()) == Approx(20).epsilon(0.03));
  CHECK(c.believed().inline_belief().variance() == Approx(0.09).epsilon(0.15));
  // And a change is noticed after ten million observations as after a hundred.
  a.run({200, 12, 0.3, 0.3}, load_of(2.9), 200);
  CHECK(a.run({200, 12, 0.3, 0.3}, load_of(2.9), 1000).inline_share() < 0.05);
}
