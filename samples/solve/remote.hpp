/// Right-hand sides that worker processes solve, of a matrix that each of them fetches once.
#pragma once

#include <basal/cluster/connection.hpp>
#include <basal/solver/batch.hpp>
#include <basal/solver/linear_operator.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace solve {

/// Right-hand sides for `solve_remotely`, and the listener to their solutions.
struct remote_batch {
  std::size_t count = 1;                                               ///< of right-hand sides
  std::function<std::vector<double>(std::size_t)> right_hand_side;     ///< by number
  std::string journal;                                                 ///< of cluster::map
  std::function<void(std::size_t, const std::vector<double>&)> solved; ///< in order; x
};

/// Solves by the workers that serve at the address. A time is in none of the outcomes, since
/// results of pure functions are the same bits wherever they are computed.
/// @throws cluster::error
std::vector<basal::solver::solve_outcome<double>>
solve_remotely(const basal::cluster::connection_options& connection,
               const basal::solver::linear_operator<double>& a,
               const basal::solver::solve_options& options, const remote_batch& batch);

/// Is a worker until SIGTERM. @returns why a coordinator refused its results; empty: nobody did
/// @throws cluster::error
std::string serve(const basal::cluster::connection_options& connection, std::size_t executors);

} // namespace solve
