#pragma once

#include <basal/actors/detail/named_field.hpp>
#include <basal/mab/stats.hpp>

#include <caf/fwd.hpp>
#include <caf/meta/type_name.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace basal::actors {

/// The belief about a cost: a posterior of its logarithm, in whole numbers since CAF 0.17.6 does
/// not save all floating-point numbers faithfully.
struct cost_belief {
  std::uint64_t typical_ns = 0;     ///< its geometric mean
  std::uint64_t spread_percent = 0; ///< 150: two thirds of them are within a factor of 1.5
  std::uint64_t observations = 0;   ///< that it rests on; old ones weigh less

  friend bool operator==(const cost_belief&, const cost_belief&) = default;
};

/// Statistics of the decisions for one (actor type, message type). Counts since the start, up to
/// 127 decisions of each living chooser late.
struct chooser_stats {
  std::string name;                   ///< as in adaptive_actor_config::name
  mab::stats counts;                  ///< counts[mab::event::...], counts[mab::guardrail::...]
  std::uint64_t pressure_percent = 0; ///< at the newest report; 100: one unit of pressure
  cost_belief function_time;          ///< of the chooser that reported last
  cost_belief offload_overhead;       ///< likewise; models other than corrected: the round trip

  friend bool operator==(const chooser_stats&, const chooser_stats&) = default;
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

namespace detail {

template <class Inspector, std::size_t... I>
typename Inspector::result_type inspect_counts(Inspector& f, chooser_stats& x,
                                               std::index_sequence<I...>) {
  const field_namer<Inspector> field;
  return f(caf::meta::type_name("chooser_stats"), field("name", x.name),
           field(mab::counter_name(I), x.counts.counts[I])...,
           field("pressure_percent", x.pressure_percent), field("function_time", x.function_time),
           field("offload_overhead", x.offload_overhead));
}

} // namespace detail

/// A field for each counter, named as mab names it.
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, chooser_stats& x) {
  return detail::inspect_counts(f, x, std::make_index_sequence<mab::counter_count>{});
}

} // namespace basal::actors
