#include <basal/mab/explain.hpp>

#include "mab/simulation.hpp"
#include "support/catch.hpp"

#include <string>

using namespace basal::mab;
using namespace basal::mab::simulation;

namespace {

std::string after(actor& a, const world& w, const load& now, int messages,
                  compute_hint hint = compute_hint::unknown) {
  tally t;
  for (int i = 0; i < messages; ++i)
    a.step(w, now, t, hint);
  return explain(a.decider());
}

bool contains(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("before the first decision there is nothing to explain") {
  actor a;
  CHECK(explain(a.decider()) == "simulated: no decision yet");
}

TEST_CASE("a cold start explains itself, and what was learned from it") {
  actor a;
  const auto text = after(a, {.function_us = 20}, load_of(0.7), 1);
  contains(text, "simulated: inline, because nothing is known about the handler yet");
  contains(text, "at that time: pressure 0.7 (normal), 14 message executors");
  contains(text, "now: function time 20 us typical");
  contains(text, "so far: 1 inline, 0 offloads");
}

TEST_CASE("guardrails are named with both numbers and the knob") {
  SECTION("GR0 by time") {
    actor a;
    contains(after(a, {.function_us = 80}, load_of(0.1, 1), 3),
             "guardrail GR0: there is only one message executor, and the handler's average "
             "function time, 80 us, is not below 50 us (t_tiny_inline_us)");
  }
  SECTION("GR0 by pressure") {
    actor a;
    contains(after(a, {.function_us = 18}, load_of(2, 1), 1),
             "pressure 2 is not below 0.5 (p_low), and nobody knows yet how long the handler "
             "takes");
    contains(after(a, {.function_us = 18}, load_of(2, 1), 9),
             "pressure 2 is not below 0.5 (p_low), and the handler's average function time, 18 us, "
             "is not below 10 us, what an offload costs undisturbed (offload_overhead_us)");
  }
  SECTION("GR1") {
    actor a;
    contains(after(a, {.function_us = 412}, load_of(0.7), 2),
             "offload, because guardrail GR1: the handler's average function time, 412 us, is "
             "above 250 us (t_block_hard_us)");
  }
  SECTION("GR2") {
    actor a;
    contains(after(a, {.function_us = 150}, load_of(4), 2),
             "pressure 4 is above 3 (p_high), and the handler's average function time, 150 us, is "
             "above 100 us (t_inline_under_pressure_us)");
  }
  SECTION("GR3") {
    knobs k;
    k.t_block_hard_us = 1e6;
    actor a{k};
    contains(after(a, {.function_us = 2000}, load_of(0.7), 2),
             "inline runs took more than 1000 us recently (1 strikes left");
  }
}

TEST_CASE("prices are given in microseconds") {
  actor in;
  contains(after(in, {.function_us = 20}, load_of(0.7), 50),
           "inline, because an inline run would cost others 2.1");
  actor off;
  const auto text = after(off, {.function_us = 200, .overhead_us = 3}, load_of(2.9), 50);
  contains(text, "offload, because an inline run would cost others 87");
  contains(text, "which is not less than 3");
  contains(text, "offload overhead 3");
}

TEST_CASE("hints, policies and models are named") {
  actor hinted;
  contains(after(hinted, {}, load_of(0.7), 1, compute_hint::high), "compute_hint::high");
  knobs k;
  k.chosen_by = policy::always_offload;
  actor annotated{k};
  contains(after(annotated, {}, load_of(0.7), 1), "policy always_offload");
  k.chosen_by = policy::static_threshold;
  actor threshold{k};
  contains(after(threshold, {.function_us = 300}, load_of(0.7), 2),
           "is above 100 us (static_threshold_us)");
  actor literal{knobs::seed_literal()};
  contains(after(literal, {}, load_of(0.7), 20), "(model seed_literal)");
}
