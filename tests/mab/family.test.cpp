#include <basal/mab/chooser.hpp>
#include <basal/mab/family_table.hpp>

#include "mab/simulation.hpp"
#include "support/catch.hpp"

#include <cmath>
#include <stdexcept>

using namespace basal::mab;
using namespace basal::mab::simulation;

TEST_CASE("a family refuses invalid knobs") {
  knobs k;
  k.decay = 2;
  CHECK_THROWS_AS(family("f", k), std::invalid_argument);
  family_table table;
  CHECK_THROWS_AS(table.get(function_key{1}, "f", k), std::invalid_argument);
  CHECK(table.snapshot().empty());
}

TEST_CASE("a family has learned nothing until the first outcome, which counts alone") {
  auto shared = std::make_shared<family>("f");
  actor a{shared, 1};
  CHECK_FALSE(shared->learned());
  tally t;
  a.step({.function_us = 3000}, load_of(0.7), t);
  REQUIRE(shared->learned());
  CHECK(std::exp(shared->learned()->log_function_us) == Approx(3000));
  CHECK_FALSE(shared->learned()->log_overhead_us);
  a.step({.function_us = 3000, .overhead_us = 40}, load_of(0.7), t);
  REQUIRE(shared->learned()->log_overhead_us);
  CHECK(std::exp(*shared->learned()->log_overhead_us) == Approx(40));
}

TEST_CASE("the totals of a family are those of its choosers, the dead ones' included") {
  auto shared = std::make_shared<family>("f");
  stats expected;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    actor a{shared, seed};
    a.run({.function_us = 400}, load_of(1), 10 + 7 * seed);
    expected += a.decider().counters();
  }
  const auto s = shared->snapshot();
  CHECK(s.totals == expected);
  CHECK(s.name == "f");
  CHECK(s.pressure == Approx(1));
  CHECK(s.totals.decisions() == expected[event::finished]);
}

TEST_CASE("a family shows what the chooser believes that reported last") {
  auto shared = std::make_shared<family>("f");
  CHECK(shared->snapshot().function_time.n() == 0);
  CHECK(shared->snapshot().overhead.n() == 0);
  actor a{shared, 1};
  a.run({.function_us = 3000, .overhead_us = 40}, load_of(0.7), 64); // reports after the 64th
  const auto seen = shared->snapshot();
  CHECK(seen.function_time == a.decider().believed().inline_belief());
  CHECK(seen.overhead == a.decider().believed().offload_belief());
  CHECK(std::exp(seen.function_time.mean()) == Approx(3000));
  { actor idle{shared, 2}; } // has nothing to say, and does not erase what others said
  CHECK(shared->snapshot().function_time == seen.function_time);
}

TEST_CASE("a chooser reports after 1, 2, 4, ... 64 outcomes and then every 64") {
  auto shared = std::make_shared<family>("f");
  actor a{shared, 1};
  tally t;
  std::vector<std::uint64_t> reports{0};
  for (int i = 0; i < 300; ++i) {
    a.step({}, load_of(1), t);
    const auto seen = shared->snapshot().totals[event::finished];
    if (seen != reports.back())
      reports.push_back(seen);
  }
  CHECK(reports == std::vector<std::uint64_t>{0, 1, 2, 4, 8, 16, 32, 64, 128, 192, 256});
}

TEST_CASE("a new chooser starts from what its family knows") {
  auto shared = std::make_shared<family>("f");
  actor first{shared, 1};
  first.run({.function_us = 3000}, load_of(0.7), 20);
  actor second{shared, 2};
  const auto t = second.run({.function_us = 3000}, load_of(0.7), 20);
  CHECK(t.inline_runs == 0);
  CHECK(second.decider().counters()[event::prior_adoption] == 1);
  CHECK(second.decider().counters()[guardrail::gr1] == 20);
}

TEST_CASE("what others learned fades out over the first five observations") {
  auto shared = std::make_shared<family>("f");
  actor first{shared, 1};
  first.run({.function_us = 1000}, load_of(0.7), 20);
  actor second{shared, 2};
  tally t;
  for (int observed = 0; observed < 7; ++observed) {
    second.step({.function_us = 20}, load_of(0.7), t);
    const double weight = std::max(0.0, 1 - (observed + 1) / 5.0);
    CHECK(second.decider().effective_ema_us()
          == Approx(weight * 1000 + (1 - weight) * 20).epsilon(0.001));
  }
}

TEST_CASE("what others learned beats a hint") {
  auto shared = std::make_shared<family>("f");
  actor first{shared, 1};
  first.run({.function_us = 20}, load_of(0.7), 20);
  actor second{shared, 2};
  tally t;
  second.step({.function_us = 20}, load_of(0.7), t, compute_hint::high);
  CHECK(t.inline_runs == 1);
  CHECK(second.decider().counters()[event::hint_offload] == 0);
}

TEST_CASE("what a chooser has told, it does not tell again when it goes") {
  auto shared = std::make_shared<family>("f");
  tally t;
  {
    actor of_one_message{shared, 1};
    of_one_message.step({.function_us = 20}, load_of(0.7), t);
  }
  actor second{shared, 2};
  second.step({.function_us = 180}, load_of(0.7), t);
  CHECK(std::exp(shared->learned()->log_function_us) == Approx(60)); // each of them counts once
}

TEST_CASE("one actor's disturbed first run is outvoted by the next two") {
  auto shared = std::make_shared<family>("f");
  const double first_runs_us[] = {3000, 20, 20};
  for (const double us : first_runs_us) {
    actor a{shared, 1};
    tally t;
    a.step({.function_us = us}, load_of(0.7), t);
  }
  CHECK(std::exp(shared->learned()->log_function_us) < 250);
}

TEST_CASE("one actor's disturbed first run hardly moves what many have learned") {
  auto shared = std::make_shared<family>("f");
  tally t;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    actor a{shared, seed};
    a.step({.function_us = 20}, load_of(0.7), t);
  }
  actor disturbed{shared, 99};
  disturbed.step({.function_us = 3000}, load_of(0.7), t);
  CHECK(std::exp(shared->learned()->log_function_us)
        == Approx(std::exp(std::log(20.0) + std::log(150.0) / 16)));
}

TEST_CASE("a table makes one family per key and lists them in order") {
  family_table table;
  knobs slow;
  slow.static_threshold_us = 7;
  auto& a = table.get(function_key{1}, "a", slow);
  auto& b = table.get(function_key{2}, "b", {});
  CHECK(&a != &b);
  CHECK(table.find(function_key{2}) == &b);
  CHECK(table.find(function_key{3}) == nullptr);
  CHECK(&table.get(function_key{1}, "again", {}) == &a);
  CHECK(a.settings().static_threshold_us == 7);
  const auto all = table.snapshot();
  REQUIRE(all.size() == 2);
  CHECK(all[0].name == "a");
  CHECK(all[1].name == "b");
}

namespace {

/// All of them have a message in each round. @returns what their choices cost
tally in_turns(std::vector<std::unique_ptr<actor>>& all, const world& w, const load& now,
               int rounds) {
  tally t;
  for (int i = 0; i < rounds; ++i)
    for (auto& each : all)
      each->step(w, now, t);
  return t;
}

/// Sixteen of one family, or each of another one.
std::vector<std::unique_ptr<actor>> sixteen(bool of_one_family) {
  std::vector<std::unique_ptr<actor>> result;
  auto shared = std::make_shared<family>("f");
  for (std::uint64_t seed = 1; seed <= 16; ++seed)
    result.push_back(
      std::make_unique<actor>(of_one_family ? shared : std::make_shared<family>("f"), seed));
  return result;
}

} // namespace

TEST_CASE("actors of a family try offloads less often than each would by itself") {
  const world w{.function_us = 5, .overhead_us = 30, .function_sigma = 0.3, .overhead_sigma = 0.3};
  const auto trials = [&](bool of_one_family) {
    auto all = sixteen(of_one_family);
    in_turns(all, w, load_of(4), 1000);
    const auto t = in_turns(all, w, load_of(4), 10'000);
    return 160'000 - t.inline_runs;
  };
  const auto alone = trials(false);
  const auto together = trials(true);
  CHECK(together > 0);
  CHECK(together < alone / 3);
}

TEST_CASE("a family that tries together finds out as soon as each by itself") {
  const auto busy = load_of(4);
  for (const bool of_one_family : {false, true}) {
    auto all = sixteen(of_one_family);
    in_turns(all, {.function_us = 20, .overhead_us = 1000}, busy, 3000);
    const world cheap{.function_us = 20, .overhead_us = 3};
    in_turns(all, cheap, busy, 3000);
    CHECK(in_turns(all, cheap, busy, 1000).regret() < 0.01);
  }
}

TEST_CASE("who offloads by itself does not listen to others") {
  auto shared = std::make_shared<family>("f");
  actor own{shared, 1}, other{shared, 2};
  own.run({.function_us = 400, .overhead_us = 10}, load_of(1), 64);
  const auto believed = own.decider().believed().offload_belief();
  CHECK(believed.n() >= 1);
  other.run({.function_us = 400, .overhead_us = 1000}, load_of(1), 64);
  own.run({.function_us = 400, .overhead_us = 10}, load_of(1), 64);
  CHECK(own.decider().believed().offload_belief().mean() == Approx(believed.mean()));
}

TEST_CASE("one disturbed offload, of which all hear, hardly moves what many have learned") {
  auto shared = std::make_shared<family>("f");
  const world usual{.function_us = 100, .overhead_us = 20};
  tally t;
  for (std::uint64_t seed = 1; seed <= 16; ++seed)
    actor{shared, seed}.step(usual, load_of(10), t, compute_hint::high);
  actor{shared, 17}.step({.function_us = 100, .overhead_us = 5000}, load_of(10), t,
                         compute_hint::high);
  const auto after = *shared->learned()->log_overhead_us;
  for (std::uint64_t seed = 18; seed <= 60; ++seed)
    actor{shared, seed}.run({.function_us = 1}, load_of(0), 3); // inline, since nobody waits
  CHECK(*shared->learned()->log_overhead_us == after);
}
