#include <basal/mab/knobs.hpp>

#include <charconv>
#include <initializer_list>
#include <stdexcept>
#include <string>

namespace basal::mab {

namespace {

constexpr double max_us = 1e9; // 17 minutes: nobody waits that long for a handler

constexpr knob_info table[] = {
  {"k_starve", &knobs::k_starve, 0, 1000, true,
   "share of an inline run's time that each unit of pressure adds to its cost"},
  {"w_inflight", &knobs::w_inflight, 0, 1000, true,
   "pressure of one runnable actor per message executor"},
  {"w_spawn", &knobs::w_spawn, 0, 1000, true,
   "pressure of 1000 arrivals per second and message executor"},
  {"pressure_clip", &knobs::pressure_clip, 0, 1e6, false, "largest pressure"},
  {"p_low", &knobs::p_low, 0, 1e6, true,
   "pressure from which a single executor inlines only what is shorter than an offload"},
  {"p_high", &knobs::p_high, 0, 1e6, true, "pressure above which GR2 acts"},
  {"decay", &knobs::decay, 0, 1, false,
   "weight of the former observations at each one; 0.999653 halves it in 2000"},
  {"strike_decay", &knobs::strike_decay, 0, 1, false,
   "what an observation leaves of the strikes; 0.993 halves them in 99"},
  {"stale_decay", &knobs::stale_decay, 0, 1, false,
   "what an inline run leaves of the weight of former offloads, unless they cost more than ten "
   "inline runs; 0.998 halves it in 346"},
  {"ema_alpha", &knobs::ema_alpha, 0, 1, false,
   "weight of the newest function time in the average that the guardrails read"},
  {"t_tiny_inline_us", &knobs::t_tiny_inline_us, 0, max_us, true,
   "GR0: a single executor inlines only what takes less, in us"},
  {"t_inline_under_pressure_us", &knobs::t_inline_under_pressure_us, 0, max_us, true,
   "GR2: under high pressure never inline what takes more, in us"},
  {"t_block_hard_us", &knobs::t_block_hard_us, 0, max_us, true,
   "GR1: never inline what takes more, in us"},
  {"t_strike_us", &knobs::t_strike_us, 0, max_us, false,
   "an inline run above it is a strike and a starvation event, in us"},
  {"s_max", &knobs::s_max, 0, 1000, false, "GR3: strikes from which inline is suppressed"},
  {"hint_trust_threshold", &knobs::hint_trust_threshold, 0, 1e6, true,
   "observations over which a hint or a prior fades out"},
  {"hint_low_ema_us", &knobs::hint_low_ema_us, 0, max_us, true,
   "function time that compute_hint::low stands for, in us"},
  {"hint_medium_ema_us", &knobs::hint_medium_ema_us, 0, max_us, true,
   "function time that compute_hint::medium stands for, in us"},
  {"hint_high_ema_us", &knobs::hint_high_ema_us, 0, max_us, true,
   "function time that compute_hint::high stands for, in us"},
  {"offload_overhead_us", &knobs::offload_overhead_us, 0, max_us, false,
   "overhead of an offload until some were observed, and of one that nothing disturbs (GR0), "
   "in us; see calibrate()"},
  {"static_threshold_us", &knobs::static_threshold_us, 0, max_us, true,
   "policy static_threshold: offload what takes more, in us"},
};

// Groups that make sense only in this order.
constexpr std::initializer_list<const char*> p_order = {"p_low", "p_high"};
constexpr std::initializer_list<const char*> t_order
  = {"t_tiny_inline_us", "t_inline_under_pressure_us", "t_block_hard_us"};
constexpr std::initializer_list<const char*> hint_order
  = {"hint_low_ema_us", "hint_medium_ema_us", "hint_high_ema_us"};

std::string text(double value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value);
  return {digits, end.ptr};
}

[[noreturn]] void reject(const std::string& name, const std::string& value,
                         const std::string& range) {
  throw std::invalid_argument("basal: mab: knob " + name + " is " + value + "; it must be "
                              + range);
}

double value_of(const knobs& k, std::string_view name) {
  for (const auto& info : table)
    if (info.name == name)
      return k.*info.value;
  throw std::logic_error("basal: mab: no such knob");
}

void check_range(const knobs& k, const knob_info& info) {
  const double value = k.*info.value;
  // Written so that NaN fails.
  const bool ok = info.bounds_allowed ? value >= info.low && value <= info.high
                                      : value > info.low && value < info.high;
  if (!ok)
    reject(info.name, text(value),
           (info.bounds_allowed ? "from " + text(info.low) + " to " + text(info.high)
                                : "above " + text(info.low) + " and below " + text(info.high))
             + " (" + info.meaning + ")");
}

void check_order(const knobs& k, std::initializer_list<const char*> names) {
  for (const auto* name = names.begin(); name + 1 != names.end(); ++name) {
    const double upper = value_of(k, name[1]);
    if (value_of(k, name[0]) > upper)
      reject(name[0], text(value_of(k, name[0])),
             std::string{"at most "} + name[1] + ", which is " + text(upper));
  }
}

} // namespace

knobs knobs::seed_literal() noexcept {
  knobs result;
  result.model = cost_model::seed_literal;
  result.offload_overhead_us = 300;
  return result;
}

std::span<const knob_info> knob_table() noexcept {
  return table;
}

void knobs::validate() const {
  for (const auto& info : table)
    check_range(*this, info);
  for (const auto& names : {p_order, t_order, hint_order})
    check_order(*this, names);
  if (hint_exploration_count > 1000)
    reject("hint_exploration_count", std::to_string(hint_exploration_count),
           "at most 1000 (offloads forced by compute_hint::high)");
  if (chosen_by < policy::thompson || chosen_by > policy::always_offload)
    reject("chosen_by", std::to_string(static_cast<int>(chosen_by)), "an enumerator of policy");
  if (model < cost_model::corrected || model > cost_model::seed_literal)
    reject("model", std::to_string(static_cast<int>(model)), "an enumerator of cost_model");
}

} // namespace basal::mab
