#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include <basal/priority/ordering.hpp>

namespace basal::priority {

/// The fate of a task for which the queue has no room.
enum class full_policy : std::uint8_t {
  wait,          ///< its submitter waits; the most urgent of those who wait comes first
  reject,        ///< queue_full is thrown
  run_in_caller, ///< its submitter runs it, at once
  time_out,      ///< as `wait`, but after `patience` queue_full is thrown
};

/// Which way hybrid spawns go; see background_pool::spawn().
enum class route : std::uint8_t {
  automatic, ///< plain while fewer than two evaluations are active
  plain,     ///< always the executors' own queue: no priorities
  priority,  ///< always the priority queue
};

/// How to build a background_pool.
struct background_config {
  /// Weights for the order of tasks.
  weights order = {};

  /// Tasks that may wait in the queue, 1 to `most_queued`. Cancelled ones count
  /// until their turn comes, or until a full queue is searched for them.
  std::size_t max_queued = 4096;

  /// The fate of a task for which the queue has no room.
  full_policy when_full = full_policy::wait;

  /// For full_policy::time_out; at least 0.
  std::chrono::nanoseconds patience = std::chrono::milliseconds{100};

  /// One heap behind one lock, so that the order is exact. Else there is one for
  /// each executor, and the order is relaxed as priority_queue says.
  bool strict = false;

  /// By how much, in levels, a task may be overtaken in a queue that is not
  /// strict; at least 0. With the default weights this default is 10 ms of
  /// waiting, or 1 ms of estimated runtime.
  double slack = 1e-3;

  /// Types of tasks whose runtimes are remembered, 1 to `most_types`; the ones not
  /// seen for longest are forgotten.
  std::size_t max_types = 4096;

  /// Which way background_pool::spawn() goes.
  route spawns = route::automatic;

  static constexpr std::size_t most_queued = std::size_t{1} << 24; ///< largest `max_queued`
  static constexpr std::size_t most_types = std::size_t{1} << 20;  ///< largest `max_types`

  /// @throws std::invalid_argument naming the field, its value and its range
  void validate() const;
};

} // namespace basal::priority
