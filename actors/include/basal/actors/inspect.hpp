#pragma once

// CAF's inspectors for the statistics of the modules below, which do not know CAF. With this header
// they can be printed (`caf::deep_to_string`, with the names of the fields) and sent in messages.
//
// Counts only: CAF 0.17.6 changes or loses some floating-point values when it serialises them (an
// infinite one never ends), so none may be added here without being carried as an integer.

#include <basal/actors/detail/named_field.hpp>
#include <basal/executors/stats.hpp>
#include <basal/posse/stats.hpp>

#include <caf/meta/type_name.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace basal::executors {

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, executor_stats& x) {
  const actors::detail::field_namer<Inspector> field;
  return f(caf::meta::type_name("executor_stats"), field("tasks_run", x.tasks_run),
           field("tasks_stolen", x.tasks_stolen), field("lifo_hits", x.lifo_hits),
           field("injection_hits", x.injection_hits),
           field("injection_batches", x.injection_batches), field("deliveries", x.deliveries),
           field("background_tasks", x.background_tasks),
           field("background_turns", x.background_turns), field("times_parked", x.times_parked),
           field("wake_ups", x.wake_ups), field("spin_wake_ups", x.spin_wake_ups),
           field("overflows", x.overflows), field("fibers_created", x.fibers_created),
           field("suspensions", x.suspensions), field("overruns", x.overruns),
           field("overrun_quanta", x.overrun_quanta), field("quantum_ends", x.quantum_ends),
           field("running_ns", x.running_ns), field("looking_ns", x.looking_ns),
           field("parked_ns", x.parked_ns), field("load_permille", x.load_permille),
           field("waiting_now", x.waiting_now));
}

} // namespace basal::executors

namespace basal::posse {

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, function_stats& x) {
  const actors::detail::field_namer<Inspector> field;
  return f(caf::meta::type_name("function_stats"), field("name", x.name), field("calls", x.calls),
           field("offloaded", x.offloaded), field("failed", x.failed), field("forks", x.forks),
           field("inlined", x.inlined), field("thefts", x.thefts), field("merges", x.merges),
           field("quanta", x.quanta), field("busy_ns", x.busy_ns));
}

/// A field for each verdict, under its name.
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, by_theft_verdict<std::uint64_t>& x) {
  const actors::detail::field_namer<Inspector> field;
  return [&]<std::size_t... Numbers>(std::index_sequence<Numbers...>) {
    return f(caf::meta::type_name("theft_verdicts"),
             field(describe(static_cast<theft_verdict>(Numbers)).name,
                   x[static_cast<theft_verdict>(Numbers)])...);
  }
  (std::make_index_sequence<num_theft_verdicts>{});
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, posse_stats& x) {
  const actors::detail::field_namer<Inspector> field;
  return f(caf::meta::type_name("posse_stats"), field("computations", x.computations),
           field("computations_now", x.computations_now), field("cancelled", x.cancelled),
           field("over_limit", x.over_limit), field("near_limit", x.near_limit),
           field("failed", x.failed), field("forks", x.forks), field("inlined", x.inlined),
           field("quanta", x.quanta), field("yields", x.yields), field("thefts", x.thefts),
           field("seamless_thefts", x.seamless_thefts), field("delegates_now", x.delegates_now),
           field("merges", x.merges), field("failed_merges", x.failed_merges),
           field("taken_back", x.taken_back), field("merge_waits", x.merge_waits),
           field("victims_now", x.victims_now), field("suspended_ns", x.suspended_ns),
           field("asks", x.asks), field("theft_looks", x.theft_looks),
           field("verdicts", x.verdicts), field("largest_cabal", x.largest_cabal),
           field("most_bytes_per_executor", x.most_bytes_per_executor),
           field("deepest_stack_bytes", x.deepest_stack_bytes), field("functions", x.functions));
}

} // namespace basal::posse
