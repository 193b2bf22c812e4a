#include <basal/mab/guardrails.hpp>

#include "support/catch.hpp"

using namespace basal::mab;

namespace {

guardrail check(std::uint32_t workers, double pressure, double ema_us, double strikes = 0) {
  return check_guardrails({}, workers, pressure, ema_us, strikes);
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
    CHECK(check_guardrails(k, 1, pressure, 1.9, 0) == guardrail::none);
    CHECK(check_guardrails(k, 1, pressure, 2, 0) == guardrail::gr0);
  }
}

TEST_CASE("GR0: an offload that costs much does not make a handler tiny") {
  knobs k;
  k.offload_overhead_us = 400;
  CHECK(check_guardrails(k, 1, 0.5, 49.9, 0) == guardrail::none);
  CHECK(check_guardrails(k, 1, 0.5, 50, 0) == guardrail::gr0);
}

TEST_CASE("GR0 does not let pass under pressure what nobody knows yet") {
  CHECK(check(1, 0.5, 0) == guardrail::gr0);
}

TEST_CASE("GR0 of loom-rs compares nothing with an offload") {
  CHECK(check_guardrails(knobs::seed_literal(), 1, 0.5, 1, 0) == guardrail::gr0);
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
  CHECK(check_guardrails(k, 4, 0, 10, 2.0) == guardrail::none);
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
