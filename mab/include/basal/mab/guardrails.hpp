#pragma once

#include <cstdint>

#include <basal/mab/knobs.hpp>

namespace basal::mab {

/// Why inline execution is forbidden whatever the bandit has learned.
enum class guardrail {
  none,
  gr0, ///< the only worker, and neither tiny under low pressure nor shorter than a hand-over
  gr1, ///< too slow for any worker at any time
  gr2, ///< too slow under high pressure
  gr3, ///< ran far too long inline recently
};

/// Whether others who wait for the only worker are served sooner if it runs the
/// handler than if it hands it over, which keeps it busy as well. What an offload
/// costs undisturbed, as calibrated, stands for the hand-over: what offloads cost
/// under load is mostly their own queue. An unknown function time (0) is no excuse.
/// loom-rs (cost_model::seed_literal) has no such case.
constexpr bool shorter_than_a_hand_over(const knobs& k, double ema_us) noexcept {
  return k.model != cost_model::seed_literal && ema_us > 0 && ema_us < k.offload_overhead_us;
}

/// The first guardrail that forbids inline, in the order GR0 to GR3.
///
/// All thresholds are strict on the side that the knobs' descriptions say. A
/// single worker that GR0 lets pass is still subject to GR3, which is why GR0
/// does not end the check (in loom-rs it does).
constexpr guardrail check_guardrails(const knobs& k, std::uint32_t workers, double pressure,
                                     double ema_us, double strikes) noexcept {
  const bool harmless
    = ema_us < k.t_tiny_inline_us && (pressure < k.p_low || shorter_than_a_hand_over(k, ema_us));
  if (workers <= 1 && !harmless)
    return guardrail::gr0;
  if (ema_us > k.t_block_hard_us)
    return guardrail::gr1;
  if (pressure > k.p_high && ema_us > k.t_inline_under_pressure_us)
    return guardrail::gr2;
  if (k.enable_strikes && strikes >= k.s_max)
    return guardrail::gr3;
  return guardrail::none;
}

} // namespace basal::mab
