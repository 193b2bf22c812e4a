#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace basal::mab {

/// What is counted, for each chooser and for each family.
enum class event : unsigned char {
  inline_decision,
  offload_decision,
  gr0_activation, ///< decisions that guardrail GR0 made offloads; likewise the next three
  gr1_activation,
  gr2_activation,
  gr3_activation,
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
};

inline constexpr std::size_t event_count = static_cast<std::size_t>(event::shift) + 1;

/// In the spelling of a metric: "inline_decisions", "gr1_activations".
constexpr const char* metric_name(event x) noexcept {
  constexpr const char* names[event_count] = {"inline_decisions",
                                              "offload_decisions",
                                              "gr0_activations",
                                              "gr1_activations",
                                              "gr2_activations",
                                              "gr3_activations",
                                              "hint_offloads",
                                              "cold_starts",
                                              "prior_adoptions",
                                              "finished",
                                              "abandoned",
                                              "finished_twice",
                                              "starvation_events",
                                              "clamped_costs",
                                              "missing_function_times",
                                              "shifts"};
  return names[static_cast<std::size_t>(x)];
}

/// Counts since the start. A plain value; not thread-safe.
struct stats {
  std::array<std::uint64_t, event_count> counts{};

  std::uint64_t& operator[](event x) noexcept {
    return counts[static_cast<std::size_t>(x)];
  }

  std::uint64_t operator[](event x) const noexcept {
    return counts[static_cast<std::size_t>(x)];
  }

  std::uint64_t decisions() const noexcept {
    return (*this)[event::inline_decision] + (*this)[event::offload_decision];
  }

  stats& operator+=(const stats& other) noexcept {
    for (std::size_t i = 0; i < event_count; ++i)
      counts[i] += other.counts[i];
    return *this;
  }

  friend stats operator-(stats a, const stats& b) noexcept {
    for (std::size_t i = 0; i < event_count; ++i)
      a.counts[i] -= b.counts[i];
    return a;
  }

  friend bool operator==(const stats&, const stats&) = default;
};

} // namespace basal::mab
