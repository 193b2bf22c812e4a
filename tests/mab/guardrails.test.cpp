#include <basal/mab/guardrails.hpp>

#include <basal/mab/explain.hpp>
#include <basal/mab/stats.hpp>

#include "mab/simulation.hpp"
#include "support/catch.hpp"

#include <set>
#include <string>

using namespace basal::mab;

namespace {

guardrail check(std::uint32_t workers, double pressure, double ema_us, double strikes = 0) {
  return check_guardrails({}, {workers, pressure, ema_us, strikes});
}

} // namespace

TEST_CASE("GR0: a single worker inlines only tiny handlers under low pressure") {
  CHECK(check(1, 0.49, 49.9) == guardrail::none);
  CHECK(check(1, 0.49, 50) == guardrail::gr0);
  CHECK(check(1, 0.5, 49.9) == guardrail::gr0);
  CHECK(check(0, 0.5, 10) == guardrail::gr0);
  CHECK(check(2, 2.9, 200) == guardrail::none);
}

TEST_CASE("GR0 lets pass, under any pressure, what takes less than an undisturbed offload") {
  knobs k;
  k.offload_overhead_us = 2;
  for (const double pressure : {0.5, 2.0, 10.0}) {
    CHECK(check_guardrails(k, {1, pressure, 1.9, 0}) == guardrail::none);
    CHECK(check_guardrails(k, {1, pressure, 2, 0}) == guardrail::gr0);
  }
}

TEST_CASE("GR0: an offload that costs much does not make a handler tiny") {
  knobs k;
  k.offload_overhead_us = 400;
  CHECK(check_guardrails(k, {1, 0.5, 49.9, 0}) == guardrail::none);
  CHECK(check_guardrails(k, {1, 0.5, 50, 0}) == guardrail::gr0);
}

TEST_CASE("GR0 does not let pass under pressure what nobody knows yet") {
  CHECK(check(1, 0.5, 0) == guardrail::gr0);
}

TEST_CASE("GR0 of loom-rs compares nothing with an offload") {
  CHECK(check_guardrails(knobs::seed_literal(), {1, 0.5, 1, 0}) == guardrail::gr0);
}

TEST_CASE("GR1: above 250 us nothing is inlined") {
  CHECK(check(4, 0, 250) == guardrail::none);
  CHECK(check(4, 0, 250.1) == guardrail::gr1);
}

TEST_CASE("GR2: above pressure 3, nothing above 100 us is inlined") {
  CHECK(check(4, 3.0, 200) == guardrail::none);
  CHECK(check(4, 3.01, 100) == guardrail::none);
  CHECK(check(4, 3.01, 100.1) == guardrail::gr2);
}

TEST_CASE("GR3: from one strike on, nothing is inlined") {
  CHECK(check(4, 0, 10, 0.99) == guardrail::none);
  CHECK(check(4, 0, 10, 1.0) == guardrail::gr3);
  knobs k;
  k.enable_strikes = false;
  CHECK(check_guardrails(k, {4, 0, 10, 2.0}) == guardrail::none);
}

TEST_CASE("the first guardrail in order is named") {
  CHECK(check(1, 9, 999, 2) == guardrail::gr0);
  CHECK(check(4, 9, 999, 2) == guardrail::gr1);
  CHECK(check(4, 9, 200, 2) == guardrail::gr2);
}

// In loom-rs GR0 ends the check, so that its strikes never protect a single worker.
TEST_CASE("a single worker that GR0 lets pass is still subject to GR3") {
  CHECK(check(1, 0.1, 20, 1.0) == guardrail::gr3);
}

// A guardrail's counter, names and reason are derived from its row: a new one was once read past
// the end of an array.
TEST_CASE("each guardrail has names and a counter of its own") {
  std::set<std::string> names;
  for (std::size_t i = 0; i < counter_count; ++i)
    CHECK(names.insert(counter_name(i)).second);
  for (const auto& info : guardrail_table) {
    CHECK(&info_of(info.which) == &info);
    CHECK(names.insert(info.name).second);
    CHECK(names.insert(info.meaning).second);
    stats s;
    ++s[info.which];
    for (std::size_t i = 0; i < counter_count; ++i)
      CHECK(s.counts[i] == (std::string{counter_name(i)} == info.metric ? 1u : 0u));
  }
}

TEST_CASE("a decision that a guardrail makes is counted as its own, told of and explained") {
  struct row {
    guardrail expected;
    knobs k;
    simulation::world w;
    load now;
  };
  const row rows[] = {
    {guardrail::gr0, {}, {.function_us = 80}, simulation::load_of(0.1, 1)},
    {guardrail::gr1, {}, {.function_us = 412}, simulation::load_of(0.7)},
    {guardrail::gr2, {}, {.function_us = 150}, simulation::load_of(4)},
    {guardrail::gr3, {.t_block_hard_us = 1e6}, {.function_us = 2000}, simulation::load_of(0.7)},
  };
  CHECK(std::size(rows) == guardrail_count);
  for (const auto& [expected, k, w, now] : rows) {
    simulation::actor a{k};
    a.run(w, now, 2);
    const auto& c = a.decider();
    CHECK(c.last().why == reason::guardrail);
    CHECK(c.last().guard == expected);
    for (const auto& info : guardrail_table)
      CHECK((c.counters()[info.which] > 0) == (info.which == expected));
    const auto name = std::string{"guardrail "} + info_of(expected).name + ": ";
    const auto text = explain(c);
    const auto at = text.find(name);
    REQUIRE(at != std::string::npos);
    CHECK(text.compare(at + name.size(), 1, ".") != 0); // a sentence follows
  }
}
