#pragma once

#include <cstdint>

#include <basal/mab/outcome.hpp>

namespace basal::mab {

/// Leave to run the next messages inline without a decision for each of them.
///
/// For handlers of a microsecond a decision is a price worth saving, and the next
/// one would be the same. Each granted run is still measured, and one that reaches
/// the limit ends the grant: a handler that turns slow is noticed at its first run.
/// The others are learned together, by their average.
///
/// The cost of a grant is bounded: a change of the load, or of the overhead of an offload, goes
/// unnoticed for max_total of function time, or limit_factor times that where each run just fails
/// to reach its limit.
///
/// Source: decisions in batches, with one draw from the posterior for each:
/// Perchet, Rigollet, Chassang, Snowberg, "Batched Bandit Problems", Annals of
/// Statistics 44 (2016) 660; Kalkanli and Ozgur, "Batched Thompson Sampling",
/// NeurIPS 34 (2021).
struct grant {
  /// Runs of one grant, at most. A guess.
  static constexpr std::uint32_t max_runs = 64;

  /// As long as GR2 lets one handler run even under high pressure. A guess: retune
  /// with adaptive_vs_best_static_fast_10us.
  static constexpr microseconds max_total{100};

  /// Observations of an average function time that deserves trust.
  static constexpr double min_observations = 64;

  /// Times the function time: what handlers vary by is below it, a change of what
  /// they do mostly above. Smaller changes are learned from the averages.
  static constexpr double limit_factor = 4;

  /// Times the pressure: inline must be right even then, since the load may rise and
  /// the overhead be less than believed.
  static constexpr double margin = 2;

  std::uint32_t runs = 0; ///< at most; 0: ask for each message
  microseconds limit{0};  ///< of function time; a run that reaches it ends the grant
};

} // namespace basal::mab
