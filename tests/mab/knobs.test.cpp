#include <basal/mab/knobs.hpp>

#include "support/catch.hpp"

#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>

using namespace basal::mab;

namespace {

// The sentence with which `k` is refused; empty when it is accepted.
std::string refusal(const knobs& k) {
  try {
    k.validate();
    return {};
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("the defaults are valid and those of the source") {
  const knobs k;
  CHECK(refusal(k).empty());
  CHECK(k.k_starve == 0.15);
  CHECK(k.w_inflight == 0.7);
  CHECK(k.w_spawn == 0.3);
  CHECK(k.pressure_clip == 10);
  CHECK(k.decay == 0.999653);
  CHECK(k.strike_decay == 0.993);
  CHECK(k.ema_alpha == 0.1);
  CHECK(k.t_tiny_inline_us == 50);
  CHECK(k.t_block_hard_us == 250);
  CHECK(k.t_inline_under_pressure_us == 100);
  CHECK(k.p_low == 0.5);
  CHECK(k.p_high == 3);
  CHECK(k.t_strike_us == 1000);
  CHECK(k.s_max == 1);
  CHECK(k.enable_strikes);
  CHECK(k.hint_trust_threshold == 5);
  CHECK(k.hint_exploration_count == 3);
  CHECK(k.hint_low_ema_us == 30);
  CHECK(k.hint_medium_ema_us == 200);
  CHECK(k.hint_high_ema_us == 1000);
  CHECK(refusal(knobs::seed_literal()).empty());
  CHECK(knobs::seed_literal().offload_overhead_us == 300);
}

TEST_CASE("the half-lives of the defaults are those documented") {
  const knobs k;
  const auto half_life = [](double decay) { return std::log(0.5) / std::log(decay); };
  CHECK(half_life(k.decay) == Approx(1997).margin(1));
  CHECK(half_life(k.strike_decay) == Approx(98.7).margin(0.1));
  CHECK(half_life(1 - k.ema_alpha) == Approx(6.6).margin(0.05));
  CHECK(half_life(k.stale_decay) == Approx(346).margin(1));
}

TEST_CASE("every knob refuses values outside of its range, with its name, value and range") {
  for (const auto& info : knob_table())
    for (const double bad :
         {info.low - 1, info.high * 2 + 1, std::numeric_limits<double>::quiet_NaN(),
          std::numeric_limits<double>::infinity()}) {
      knobs k;
      k.*info.value = bad;
      const auto text = refusal(k);
      INFO(info.name << " = " << bad << ": " << text);
      CHECK(contains(text, std::string{"knob "} + info.name + " is "));
      CHECK(contains(text, "it must be "));
      CHECK(contains(text, info.meaning));
    }
}

TEST_CASE("knobs whose bounds make no sense exclude them") {
  for (const double bad : {0.0, 1.0}) {
    knobs k;
    k.decay = bad;
    CHECK(contains(refusal(k), "knob decay is "));
    CHECK(contains(refusal(k), "above 0 and below 1"));
  }
}

TEST_CASE("inverted knobs are refused with both names") {
  knobs k;
  k.p_low = 4;
  CHECK(refusal(k) == "basal: mab: knob p_low is 4; it must be at most p_high, which is 3");
  k = {};
  k.t_tiny_inline_us = 150;
  CHECK(contains(refusal(k), "knob t_tiny_inline_us is 150; it must be at most "
                             "t_inline_under_pressure_us, which is 100"));
  k = {};
  k.hint_medium_ema_us = 2000;
  CHECK(contains(refusal(k), "at most hint_high_ema_us, which is 1000"));
}

TEST_CASE("counts and enumerators are checked, too") {
  knobs k;
  k.hint_exploration_count = 1001;
  CHECK(contains(refusal(k), "hint_exploration_count is 1001"));
  k = {};
  k.chosen_by = static_cast<policy>(9);
  CHECK(contains(refusal(k), "chosen_by is 9"));
  k = {};
  k.model = static_cast<cost_model>(-1);
  CHECK(contains(refusal(k), "model is -1"));
}

TEST_CASE("the table names each numeric knob once") {
  std::set<std::string> names;
  for (const auto& info : knob_table())
    CHECK(names.insert(info.name).second);
  // All members of type double: what follows them starts after the last one.
  CHECK(names.size() == offsetof(knobs, hint_exploration_count) / sizeof(double));
}
