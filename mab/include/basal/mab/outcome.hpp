#pragma once

#include <chrono>
#include <optional>

namespace basal::mab {

/// Every std::chrono duration converts to it.
using microseconds = std::chrono::duration<double, std::micro>;

/// The outcome of a decision.
///
/// Values below min_cost, above max_cost or not finite are clamped and counted
/// (event::clamped_cost); NaN counts as not measured.
struct outcome {
  static constexpr microseconds min_cost{1e-3}; ///< below any clock's resolution
  static constexpr microseconds max_cost{1e9};  ///< 17 minutes

  /// Wall time from the decision until the result was back: the round trip when
  /// offloaded, the function time when inline.
  microseconds cost;

  /// CPU time of the handler and its delegates, measured where it ran. Missing:
  /// inline it is taken to be `cost`; offloaded it stays unknown, since a round
  /// trip cannot tell waiting from work.
  std::optional<microseconds> function_time = {};

  /// Wall time inside the handler, when that differs from function_time because
  /// parts ran in parallel or it was preempted. cost - elapsed is the overhead
  /// of an offload.
  std::optional<microseconds> elapsed = {};
};

} // namespace basal::mab
