#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include <basal/mab/guardrails.hpp>

namespace basal::mab {

/// Counters besides those of guardrails' activations, for each chooser and for each family. A
/// closed set: an enumerator and its row in event_names make a counter.
enum class event : unsigned char {
  inline_decision,
  offload_decision,
  hint_offload,          ///< offloads forced by compute_hint::high
  cold_start,            ///< inline because nothing at all was known
  prior_adoption,        ///< choosers that started from what others had learned
  finished,              ///< decisions whose outcome was observed
  abandoned,             ///< decisions dropped without an outcome
  finished_twice,        ///< outcomes of decisions that already had one; ignored
  starvation,            ///< inline runs longer than t_strike_us
  clamped_cost,          ///< values that were zero, negative, huge or not finite
  missing_function_time, ///< offloads of which only the round trip is known
  shift,                 ///< times that a cost was found to have changed for good
  count                  ///< last: how many there are
};

inline constexpr std::size_t event_count = static_cast<std::size_t>(event::count);

inline constexpr const char* event_names[]
  = {"inline_decisions",  "offload_decisions", "hint_offloads",          "cold_starts",
     "prior_adoptions",   "finished",          "abandoned_decisions",    "finished_twice",
     "starvation_events", "clamped_costs",     "missing_function_times", "shifts"};
static_assert(std::size(event_names) == event_count, "each event has a name");

/// Events, then guardrails.
inline constexpr std::size_t counter_count = event_count + guardrail_count;

/// In the spelling of a metric: "inline_decisions", "gr1_activations".
constexpr const char* counter_name(std::size_t index) noexcept {
  assert(index < counter_count && "a counter's index is below counter_count");
  return index < event_count ? event_names[index] : guardrail_table[index - event_count].metric;
}

/// Counts since the start. A plain value; not thread-safe.
struct stats {
  std::array<std::uint64_t, counter_count> counts{}; ///< by index of counter_name()

  /// The count of an event.
  std::uint64_t& operator[](event x) noexcept {
    assert(x < event::count && "the last enumerator counts the events");
    return counts[static_cast<std::size_t>(x)];
  }

  /// The count of an event.
  std::uint64_t operator[](event x) const noexcept {
    assert(x < event::count && "the last enumerator counts the events");
    return counts[static_cast<std::size_t>(x)];
  }

  /// Decisions that a guardrail other than none made offloads.
  std::uint64_t& operator[](guardrail x) noexcept {
    assert(x < guardrail::none && "guardrail::none forbids nothing, and is not counted");
    return counts[event_count + static_cast<std::size_t>(x)];
  }

  /// Decisions that a guardrail other than none made offloads.
  std::uint64_t operator[](guardrail x) const noexcept {
    assert(x < guardrail::none && "guardrail::none forbids nothing, and is not counted");
    return counts[event_count + static_cast<std::size_t>(x)];
  }

  /// Decisions for either arm. Runs of a grant count as inline decisions.
  std::uint64_t decisions() const noexcept {
    return (*this)[event::inline_decision] + (*this)[event::offload_decision];
  }

  /// Adds counter by counter.
  stats& operator+=(const stats& other) noexcept {
    for (std::size_t i = 0; i < counter_count; ++i)
      counts[i] += other.counts[i];
    return *this;
  }

  friend stats operator-(stats a, const stats& b) noexcept {
    for (std::size_t i = 0; i < counter_count; ++i)
      a.counts[i] -= b.counts[i];
    return a;
  }

  friend bool operator==(const stats&, const stats&) = default;
};

} // namespace basal::mab
