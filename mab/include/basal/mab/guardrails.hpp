#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include <basal/mab/knobs.hpp>

namespace basal::mab {

/// Why inline execution is forbidden whatever the bandit has learned, in the order of the check.
///
/// A closed set: an enumerator here, its row in guardrail_table and its sentence in explain.cpp
/// make a guardrail. Its counter, the names of that, the reason of a decision and what is shown
/// of them follow. A row or sentence that is missing does not compile.
enum class guardrail {
  gr0,
  gr1,
  gr2,
  gr3,
  none, ///< last
};

inline constexpr std::size_t guardrail_count = static_cast<std::size_t>(guardrail::none);

/// The facts that guardrails look at.
struct situation {
  std::uint32_t workers; ///< message executors
  double pressure;       ///< see pressure_index()
  double ema_us;         ///< average function time; 0 while unknown
  double strikes;        ///< slow inline runs that are not forgotten yet
};

/// Whether others who wait for the only worker are served sooner if it runs the handler than if it
/// hands it over, which keeps it busy as well. The calibrated cost of an undisturbed offload stands
/// for the hand-over: the cost of offloads under load is mostly their own queue. An unknown
/// function time (0) is no excuse. loom-rs (cost_model::seed_literal) has no such case.
constexpr bool shorter_than_a_hand_over(const knobs& k, double ema_us) noexcept {
  return k.model != cost_model::seed_literal && ema_us > 0 && ema_us < k.offload_overhead_us;
}

/// One row of guardrail_table: what is the same of all activations of a guardrail.
struct guardrail_info {
  guardrail which;     ///< the enumerator, whose number is that of the row
  const char* name;    ///< in summaries: "GR0"
  const char* metric;  ///< of the decisions that it made offloads
  const char* meaning; ///< in a few words, for summaries

  /// Whether it forbids inline. A pure function of its arguments.
  bool (*forbids)(const knobs&, const situation&) noexcept;
};

/// All thresholds are strict on the side that the knobs' descriptions say.
inline constexpr guardrail_info guardrail_table[] = {
  {guardrail::gr0, "GR0", "gr0_activations", "only one message executor",
   [](const knobs& k, const situation& s) noexcept {
     const bool harmless = s.ema_us < k.t_tiny_inline_us
                           && (s.pressure < k.p_low || shorter_than_a_hand_over(k, s.ema_us));
     return s.workers <= 1 && !harmless;
   }},
  {guardrail::gr1, "GR1", "gr1_activations", "too long to block an executor",
   [](const knobs& k, const situation& s) noexcept { return s.ema_us > k.t_block_hard_us; }},
  {guardrail::gr2, "GR2", "gr2_activations", "others wait",
   [](const knobs& k, const situation& s) noexcept {
     return s.pressure > k.p_high && s.ema_us > k.t_inline_under_pressure_us;
   }},
  {guardrail::gr3, "GR3", "gr3_activations", "inline runs took too long recently",
   [](const knobs& k, const situation& s) noexcept {
     return k.enable_strikes && s.strikes >= k.s_max;
   }},
};

namespace detail {

template <std::size_t... Rows>
constexpr bool rows_are_in_order(std::index_sequence<Rows...>) noexcept {
  return ((guardrail_table[Rows].which == static_cast<guardrail>(Rows)) && ...);
}

// A fold rather than a loop, so that the compiler sees each condition and calls none of them.
template <std::size_t... Rows>
constexpr guardrail first_that_forbids(const knobs& k, const situation& s,
                                       std::index_sequence<Rows...>) noexcept {
  auto found = guardrail::none;
  static_cast<void>((
    (guardrail_table[Rows].forbids(k, s) && ((found = guardrail_table[Rows].which), true)) || ...));
  return found;
}

using guardrail_rows = std::make_index_sequence<guardrail_count>;

} // namespace detail

static_assert(std::size(guardrail_table) == guardrail_count, "each guardrail has a row");
static_assert(detail::rows_are_in_order(detail::guardrail_rows{}), "in the enumerators' order");

/// The row of a guardrail other than none.
constexpr const guardrail_info& info_of(guardrail x) noexcept {
  assert(x < guardrail::none && "guardrail::none has no row");
  return guardrail_table[static_cast<std::size_t>(x)];
}

/// The first guardrail that forbids inline.
///
/// A single worker that GR0 lets pass is still subject to GR3, which is why GR0
/// does not end the check (in loom-rs it does).
constexpr guardrail check_guardrails(const knobs& k, const situation& s) noexcept {
  return detail::first_that_forbids(k, s, detail::guardrail_rows{});
}

} // namespace basal::mab
