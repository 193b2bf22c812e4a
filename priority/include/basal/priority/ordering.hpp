#pragma once

#include <basal/priority/level.hpp>

namespace basal::priority {

/// Weights for the order of background work.
///
/// The live score of a waiting task is
///
///     level + runtime * estimate - decay * waited
///
/// and the least comes first. All scores fall at the same rate, so the order of
/// two tasks never changes while they wait, and
///
///     key = level + runtime * estimate + decay * enqueue_time
///
/// orders the same and is computed once. (A score computed once, when nobody has
/// waited yet, is not: with it the last levels starve. tests/priority/ordering.test.cpp)
///
/// With the defaults a level is worth 1 s of estimated runtime or 10 s of
/// waiting. So shortest-first decides within a level, and a batch task gets ahead
/// of newly submitted normal ones after 450 s.
struct weights {
  double runtime = 1.0; ///< levels per second of estimated runtime; 0 to `most`
  double decay = 0.1;   ///< levels per second of waiting; 0 to `most`; 0: no ageing

  /// Far beyond what leaves the levels a meaning, and far below what makes a key infinite,
  /// whose task no consumer of the queue would ever see.
  static constexpr double most = 1e12;

  /// @throws std::invalid_argument naming the weight, its value and its range
  void validate() const;

  /// The key of a task, in levels; see above. Less comes first. Does not allocate or throw.
  /// @param base the task's level
  /// @param estimate_s estimated runtime in seconds
  /// @param enqueued_s when the task was enqueued, in seconds since any fixed time
  constexpr double key(level base, double estimate_s, double enqueued_s) const noexcept {
    return static_cast<double>(base) + runtime * estimate_s + decay * enqueued_s;
  }
};

} // namespace basal::priority
