#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include <basal/executors/config.hpp>

namespace basal::solver {

/// The fate of a solve when all permits are taken.
enum class backpressure : std::uint8_t {
  wait,         ///< it begins when its turn comes, first come first served
  reject,       ///< it fails with errc::too_busy
  wait_timeout, ///< it waits, and fails with errc::timed_out after `patience`
};

/// Limits of all solves of a batch_solver together.
struct solver_limits {
  /// Solves that run at the same time, or are suspended within; at least 1. Solves of batches count
  /// like single ones. Right-hand sides that are solved together, as one block, count as one.
  std::size_t concurrent_solves = 2 * executors::usable_cpus();

  /// Of the scratch pool, idle and lent; a solve that needs more than is left
  /// fails with errc::out_of_scratch.
  std::size_t scratch_bytes = executors::usable_cpus() * (std::size_t{16} << 20);

  /// Of the plans kept for requests that come again with the same matrix object and options,
  /// matrices included (plan_cache); each number type has as many. 0 keeps none. A guess: a
  /// few matrices of the size that a second cache holds, or one of a million entries.
  std::size_t plan_cache_bytes = std::size_t{64} << 20;

  /// The fate of a solve when all permits are taken.
  solver::backpressure backpressure = solver::backpressure::wait;

  /// For wait_timeout; from the time at which the solve asks for its permit.
  std::chrono::nanoseconds patience = std::chrono::seconds{1};

  /// @throws error{bad_option} naming the field, its value and its range.
  void validate() const;
};

} // namespace basal::solver
