#pragma once

#include <basal/actors/detail/named_field.hpp>

#include <caf/fwd.hpp>
#include <caf/meta/type_name.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace basal::actors {

/// What is believed of a cost: a posterior of its logarithm, in whole numbers since CAF 0.17.6 does
/// not save all floating-point numbers faithfully.
struct cost_belief {
  std::uint64_t typical_ns = 0;     ///< its geometric mean
  std::uint64_t spread_percent = 0; ///< 150: two thirds of them are within a factor of 1.5
  std::uint64_t observations = 0;   ///< that it rests on; old ones weigh less
};

/// What the choosers of one (actor type, message type) did. Counts since the start, up to 127
/// decisions of each living chooser late.
struct chooser_stats {
  std::string name;
  std::uint64_t inline_decisions = 0;
  std::uint64_t offload_decisions = 0;
  std::uint64_t gr0_activations = 0; ///< decisions that guardrail GR0 made offloads
  std::uint64_t gr1_activations = 0;
  std::uint64_t gr2_activations = 0;
  std::uint64_t gr3_activations = 0;
  std::uint64_t hint_offloads = 0;   ///< offloads forced by compute_hint::high
  std::uint64_t cold_starts = 0;     ///< inline because nothing was known
  std::uint64_t prior_adoptions = 0; ///< choosers that started from what others had learned
  std::uint64_t finished = 0;
  std::uint64_t abandoned_decisions = 0;
  std::uint64_t finished_twice = 0;
  std::uint64_t starvation_events = 0; ///< inline runs longer than t_strike_us
  std::uint64_t clamped_costs = 0;
  std::uint64_t missing_function_times = 0;
  std::uint64_t shifts = 0;           ///< times that a cost had changed for good
  std::uint64_t pressure_percent = 0; ///< at the newest report; 100: one unit of pressure
  cost_belief function_time;          ///< of the chooser that reported last
  cost_belief offload_overhead;       ///< likewise; models other than corrected: the round trip
};

/// All of them added up; the beliefs are empty.
chooser_stats total(const std::vector<chooser_stats>& all);

/// As a sentence: what was decided how often, and what it rests on.
std::string explain(const chooser_stats& x);

/// Of each (actor type, message type) of the system, in the order of their first actor. Any thread.
/// @throws std::logic_error if `system` does not run on basal.
std::vector<chooser_stats> chooser_stats_of(caf::actor_system& system);

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, cost_belief& x) {
  const detail::field_namer<Inspector> field;
  return f(caf::meta::type_name("cost_belief"), field("typical_ns", x.typical_ns),
           field("spread_percent", x.spread_percent), field("observations", x.observations));
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, chooser_stats& x) {
  const detail::field_namer<Inspector> field;
  return f(
    caf::meta::type_name("chooser_stats"), field("name", x.name),
    field("inline_decisions", x.inline_decisions), field("offload_decisions", x.offload_decisions),
    field("gr0_activations", x.gr0_activations), field("gr1_activations", x.gr1_activations),
    field("gr2_activations", x.gr2_activations), field("gr3_activations", x.gr3_activations),
    field("hint_offloads", x.hint_offloads), field("cold_starts", x.cold_starts),
    field("prior_adoptions", x.prior_adoptions), field("finished", x.finished),
    field("abandoned_decisions", x.abandoned_decisions), field("finished_twice", x.finished_twice),
    field("starvation_events", x.starvation_events), field("clamped_costs", x.clamped_costs),
    field("missing_function_times", x.missing_function_times), field("shifts", x.shifts),
    field("pressure_percent", x.pressure_percent), field("function_time", x.function_time),
    field("offload_overhead", x.offload_overhead));
}

} // namespace basal::actors
