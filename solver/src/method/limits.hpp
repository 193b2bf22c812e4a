// When a method is given up.
#pragma once

#include <cstdint>

#include <basal/solver/solve_options.hpp>

namespace basal::solver::detail {

// A recurrence drifts away from the true residual. When it says "converged" and the true one does
// not, the method starts again from there, this often.
inline constexpr int max_restarts = 3;

struct method_limits {
  double growth;          // so many times the best residual is divergence
  std::uint64_t patience; // so many steps without a new best residual are a stall
};

constexpr method_limits limits_of(method m) noexcept {
  // A convergent series may grow at first where I - D^-1 A is not normal; 10 is beyond that. The
  // residual of a Krylov method may rise by the root of the condition number before it falls.
  return m == method::neumann ? method_limits{10, 100} : method_limits{1e8, 1000};
}

} // namespace basal::solver::detail
