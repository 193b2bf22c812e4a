#include <basal/mab/explain.hpp>

#include <cmath>
#include <cstdio>
#include <string>

#include <basal/mab/chooser.hpp>

namespace basal::mab {

namespace {

// Three significant digits without an exponent, trailing zeros dropped.
std::string number(double x) {
  char text[64];
  const double magnitude = std::abs(x);
  const int decimals = magnitude >= 100 || magnitude == 0 ? 0
                       : magnitude >= 10                  ? 1
                       : magnitude >= 1                   ? 2
                                                          : 3;
  std::snprintf(text, sizeof text, "%.*f", decimals, x);
  std::string result = text;
  if (result.find('.') != std::string::npos) {
    result.erase(result.find_last_not_of('0') + 1);
    if (result.back() == '.')
      result.pop_back();
  }
  return result;
}

std::string us(double x) {
  return number(x) + " us";
}

std::string us_of_log(double x) {
  return us(std::exp(x));
}

std::string average(const rationale& r) {
  return "the handler's average function time, " + us(r.ema_us) + ",";
}

std::string gr0_text(const rationale& r, const knobs& k) {
  const std::string one = "there is only one message executor, ";
  if (r.ema_us >= k.t_tiny_inline_us)
    return one + "and " + average(r) + " is not below " + us(k.t_tiny_inline_us)
           + " (t_tiny_inline_us)";
  const auto others_wait
    = one + "pressure " + number(r.pressure) + " is not below " + number(k.p_low) + " (p_low)";
  if (k.model == cost_model::seed_literal)
    return others_wait;
  if (r.ema_us == 0)
    return others_wait + ", and nobody knows yet how long the handler takes";
  return others_wait + ", and " + average(r) + " is not below " + us(k.offload_overhead_us)
         + ", what an offload costs undisturbed (offload_overhead_us)";
}

std::string guardrail_text(const rationale& r, const knobs& k) {
  switch (r.guard) {
  case guardrail::gr0:
    return gr0_text(r, k);
  case guardrail::gr1:
    return average(r) + " is above " + us(k.t_block_hard_us) + " (t_block_hard_us)";
  case guardrail::gr2:
    return "pressure " + number(r.pressure) + " is above " + number(k.p_high) + " (p_high), and "
           + average(r) + " is above " + us(k.t_inline_under_pressure_us)
           + " (t_inline_under_pressure_us)";
  case guardrail::gr3:
    return "inline runs took more than " + us(k.t_strike_us) + " recently (" + number(r.strikes)
           + " strikes left, allowed are less than " + number(k.s_max) + ")";
  case guardrail::none:
    break;
  }
  return {};
}

// Two prices: how long others would wait for an inline run, and what an offload costs.
std::string price_text(const rationale& r, const knobs& k) {
  const bool in = r.choice == arm::inline_here;
  std::string comparison = in ? " is less than " : " is not less than ";
  if (k.model == cost_model::corrected)
    return "an inline run would cost others " + us_of_log(r.price.inline_log)
           + " (function time x k_starve x pressure "
           + (r.pressure_meanwhile < r.pressure
                ? number(r.pressure_meanwhile) + ", without those who come after so short a run"
                : number(r.pressure))
           + "), which" + comparison + us_of_log(r.price.offload_log)
           + ", the overhead of an offload"
           + (k.chosen_by == policy::thompson ? " as drawn from what is known about it"
                                              : " less its bonus for rarely tried arms");
  return "the adjusted cost of inline, " + us_of_log(r.price.inline_log) + "," + comparison
         + "that of an offload, " + us_of_log(r.price.offload_log) + " (model " + to_string(k.model)
         + ")";
}

std::string why(const rationale& r, const knobs& k) {
  switch (r.why) {
  case reason::hint_exploration:
    return "the hint compute_hint::high forces the first offloads";
  case reason::guardrail:
    return std::string{"guardrail "} + info_of(r.guard).name + ": " + guardrail_text(r, k);
  case reason::cold_start:
    return "nothing is known about the handler yet, and inline is cheaper if it is fast";
  case reason::prices:
    return price_text(r, k);
  case reason::threshold:
    return average(r) + " is " + (r.choice == arm::offload ? "" : "not ") + "above "
           + us(k.static_threshold_us) + " (static_threshold_us)";
  case reason::annotation:
    return std::string{"policy "} + to_string(k.chosen_by);
  case reason::none:
    break;
  }
  return {};
}

std::string belief_text(const posterior& p) {
  if (p.n() <= 0)
    return "unknown";
  return us_of_log(p.mean()) + " typical, factor " + number(std::exp(std::sqrt(p.variance())))
         + " spread, from " + number(p.n()) + " observations";
}

} // namespace

std::string explain(const chooser& x) {
  const auto& r = x.last();
  const auto& k = x.shared().settings();
  if (r.why == reason::none)
    return x.shared().name() + ": no decision yet";
  const bool corrected = k.model == cost_model::corrected;
  const auto& c = x.counters();
  return x.shared().name() + ": " + to_string(r.choice) + ", because " + why(r, k)
         + ".\n  at that time: pressure " + number(r.pressure) + " ("
         + to_string(band_of(r.pressure, k)) + "), " + std::to_string(r.workers)
         + " message executors, average function time " + us(r.ema_us) + ", " + number(r.strikes)
         + " strikes" + "\n  now: " + (corrected ? "function time " : "inline cost ")
         + belief_text(x.believed().function_belief())
         + (corrected ? "; offload overhead " : "; offload cost ")
         + belief_text(corrected ? x.believed().overhead_belief() : x.believed().offload_belief())
         + "\n  so far: " + std::to_string(c[event::inline_decision]) + " inline, "
         + std::to_string(c[event::offload_decision]) + " offloads\n";
}

} // namespace basal::mab
