#pragma once

#include <cmath>
#include <cstdint>

#include <basal/mab/arm.hpp>
#include <basal/mab/detail/costs.hpp>
#include <basal/mab/guardrails.hpp>
#include <basal/mab/knobs.hpp>
#include <basal/mab/pressure.hpp>
#include <basal/mab/random.hpp>

namespace basal::mab {

/// The reason that settled a decision.
enum class reason {
  none,             ///< no decision yet
  hint_exploration, ///< compute_hint::high forces the first offloads
  guardrail,        ///< rationale.guard
  cold_start,       ///< nothing known: inline, which is cheaper if the handler is fast
  prices,           ///< the lower price
  threshold,        ///< policy static_threshold
  annotation,       ///< policies always_inline and always_offload
};

/// The numbers behind one decision: everything that explain() prints.
struct rationale {
  arm choice = arm::inline_here;     ///< the decision
  reason why = reason::none;         ///< the reason that settled it
  guardrail guard = guardrail::none; ///< which, if `why` is reason::guardrail
  double pressure = 0;               ///< at the decision; see pressure_index()
  double pressure_meanwhile = 0;     ///< that of its prices; see pressure_during()
  std::uint32_t workers = 0;         ///< message executors
  double ema_us = 0;                 ///< average function time that the guardrails saw
  double strikes = 0;                ///< that GR3 saw
  costs::prices price = {};          ///< only if `why` is reason::prices
};

/// The facts that a policy may look at besides its knobs.
struct evidence {
  const costs& believed;      ///< the chooser's belief about both arms
  double ema_us;              ///< 0 while unknown
  double strikes;             ///< see situation
  bool exploring;             ///< forced offloads remain
  std::uint64_t inline_runs;  ///< decisions for inline so far
  std::uint64_t offload_runs; ///< decisions for an offload so far
};

namespace detail {

/// Auer, Cesa-Bianchi, Fischer, "Finite-time Analysis of the Multiarmed Bandit
/// Problem", Machine Learning 47 (2002), with costs instead of rewards: the lower
/// confidence bound wins. The bonus is in nats, as are the prices.
inline costs::prices ucb1_prices(const evidence& e, double pressure, const knobs& k) noexcept {
  // An arm that never ran has an unbounded bonus and goes first.
  if (e.inline_runs == 0)
    return {-HUGE_VAL, 0};
  if (e.offload_runs == 0)
    return {0, -HUGE_VAL};
  auto result = e.believed.expected(pressure, k);
  const auto in = static_cast<double>(e.inline_runs);
  const auto off = static_cast<double>(e.offload_runs);
  const double bonus = 2 * std::log(in + off);
  result.inline_log -= std::sqrt(bonus / in);
  result.offload_log -= std::sqrt(bonus / off);
  return result;
}

/// thompson and ucb1: hint, guardrails, cold start, prices, in this order.
template <random_source Random>
void learn_and_guard(rationale& r, const evidence& e, const knobs& k, Random& random) {
  r.choice = arm::offload;
  if (e.exploring) {
    r.why = reason::hint_exploration;
    return;
  }
  r.guard = check_guardrails(k, {r.workers, r.pressure, e.ema_us, e.strikes});
  if (r.guard != guardrail::none) {
    r.why = reason::guardrail;
    return;
  }
  if (e.believed.cold(k)) {
    r.why = reason::cold_start;
    r.choice = arm::inline_here;
    return;
  }
  r.why = reason::prices;
  r.price = k.chosen_by == policy::ucb1 ? ucb1_prices(e, r.pressure_meanwhile, k)
                                        : e.believed.draw(r.pressure_meanwhile, k, random);
  r.choice = r.price.lower();
}

} // namespace detail

/// Decides by the policy of the knobs. Draws from `random` only when prices
/// decide under Thompson sampling. Throws nothing that `random` does not.
template <random_source Random>
rationale decide(const evidence& e, const load& now, const knobs& k, Random& random) {
  rationale r{.pressure = pressure_index(now, k),
              .workers = now.workers,
              .ema_us = e.ema_us,
              .strikes = e.strikes};
  r.pressure_meanwhile
    = k.model == cost_model::corrected ? pressure_during(now, e.ema_us, k) : r.pressure;
  switch (k.chosen_by) {
  case policy::static_threshold:
    r.why = reason::threshold;
    r.choice = e.ema_us > k.static_threshold_us ? arm::offload : arm::inline_here;
    break;
  case policy::always_inline:
  case policy::always_offload:
    r.why = reason::annotation;
    r.choice = k.chosen_by == policy::always_inline ? arm::inline_here : arm::offload;
    break;
  case policy::thompson:
  case policy::ucb1:
    detail::learn_and_guard(r, e, k, random);
    break;
  }
  return r;
}

} // namespace basal::mab
