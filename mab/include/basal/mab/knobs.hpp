#pragma once

#include <cstdint>
#include <span>

namespace basal::mab {

/// The policies that can decide.
enum class policy {
  thompson,         ///< learns; guarded by GR0 to GR3
  ucb1,             ///< learns without chance; guarded; assumes that nothing changes
  static_threshold, ///< offload when the function time's average exceeds static_threshold_us
  always_inline,    ///< the annotation "fast": no guardrail, no learning
  always_offload,   ///< the annotation "slow"
};

/// The composition of costs; docs/explanation.md derives the formulas.
enum class cost_model {
  /// Function time and offload overhead are learned apart: inline costs
  /// fn * (1 + k*p), offload fn + overhead. Every run teaches the function time.
  corrected,

  /// One total cost per arm: inline fn * (1 + k*p), offload the round trip. For
  /// comparison: an arm that is not chosen goes stale.
  separate_arms,

  /// The formulas that made loom-rs's published tables, errors included.
  seed_literal,
};

constexpr const char* to_string(policy x) noexcept {
  switch (x) {
  case policy::thompson:
    return "thompson";
  case policy::ucb1:
    return "ucb1";
  case policy::static_threshold:
    return "static_threshold";
  case policy::always_inline:
    return "always_inline";
  case policy::always_offload:
    return "always_offload";
  }
  return "?"; // no enumerator
}

constexpr const char* to_string(cost_model x) noexcept {
  switch (x) {
  case cost_model::corrected:
    return "corrected";
  case cost_model::separate_arms:
    return "separate_arms";
  case cost_model::seed_literal:
    return "seed_literal";
  }
  return "?"; // no enumerator
}

/// The parameters of a family of choosers. The defaults are those of loom-rs
/// where it has the knob. Ranges and meanings: knob_table().
struct knobs {
  /// How the load becomes a pressure, and from which pressure on guardrails act.
  /// @{
  double k_starve = 0.15;
  double w_inflight = 0.7;
  double w_spawn = 0.3;
  double pressure_clip = 10;
  double p_low = 0.5;
  double p_high = 3;
  /// @}

  /// How fast observations are forgotten: factors per observation, above 0 and below 1.
  /// @{
  double decay = 0.999653;
  double strike_decay = 0.993;
  double stale_decay = 0.998;
  double ema_alpha = 0.1;
  /// @}

  /// Thresholds of the guardrails: function times in microseconds, and the strikes for GR3.
  /// @{
  double t_tiny_inline_us = 50;
  double t_inline_under_pressure_us = 100;
  double t_block_hard_us = 250;
  double t_strike_us = 1000;
  double s_max = 1;
  /// @}

  /// Beliefs before anything was observed: times in microseconds, and the number of observations
  /// over which they fade.
  /// @{
  double hint_trust_threshold = 5;
  double hint_low_ema_us = 30;
  double hint_medium_ema_us = 200;
  double hint_high_ema_us = 1000;
  double offload_overhead_us = 10;
  /// @}

  /// For policy::static_threshold: the function time in microseconds above which a handler is
  /// offloaded.
  double static_threshold_us = 100;

  std::uint32_t hint_exploration_count = 3; ///< offloads forced by compute_hint::high, at most 1000
  bool enable_strikes = true;               ///< guardrail GR3
  bool restart_on_shift = true;             ///< not in seed_literal; see shift_detector

  policy chosen_by = policy::thompson;      ///< how choosers of the family decide
  cost_model model = cost_model::corrected; ///< the costs that they learn

  /// The settings behind loom-rs's published tables, with the 300 us that it
  /// assumes as offload overhead.
  static knobs seed_literal() noexcept;

  /// @throws std::invalid_argument naming the knob, its value and its range.
  void validate() const;
};

/// One numeric knob: for validation and for those who offer knobs as
/// configuration options.
struct knob_info {
  const char* name;     ///< as in knobs
  double knobs::*value; ///< the member that it describes
  double low;           ///< lower bound of the range
  double high;          ///< upper bound of the range
  bool bounds_allowed;  ///< may the value be equal to a bound?
  const char* meaning;  ///< one line, with the unit
};

/// All numeric knobs of type double.
std::span<const knob_info> knob_table() noexcept;

} // namespace basal::mab
