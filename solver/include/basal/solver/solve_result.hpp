/// How far a solve came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <basal/solver/fwd.hpp>
#include <basal/solver/solve_options.hpp>

namespace basal::solver {

/// State of a solve, or its end.
enum class state : std::uint8_t {
  running,          ///< only in reports of a step: go on
  converged,        ///< the tolerance is reached
  stalled,          ///< the method broke down or makes no progress any more
  diverged,         ///< the residual grows
  budget_exhausted, ///< a limit was reached first
};

/// How many states there are.
inline constexpr std::size_t state_count = static_cast<std::size_t>(state::budget_exhausted) + 1;

/// The enumerator's name.
std::string_view to_string(state s) noexcept;

/// The report of one step().
struct step_report {
  /// |b - A x| / |b| in 2-norms (0 for b = 0); for one entry by pushes or walks, the half-width of
  /// its interval over its estimate. Always finite. While running it is what the step's recurrence
  /// says, from which the truth may differ; in every other state it is computed from x.
  double residual = 1;
  solver::state state = solver::state::running; ///< `running`: go on
};

/// Everything about a finished solve. `x` is finite in every state, and never worse than zeros or
/// the first guess: of several attempts it is the best one's, and of an attempt that did not
/// converge the best of what it kept.
template <class T>
struct solve_result {
  solver::state state = solver::state::running; ///< how it ended
  std::vector<T> x;             ///< the solution; one number if one entry was asked for
  std::uint64_t iterations = 0; ///< steps taken, by all methods that were tried
  double residual = 1;          ///< of this x, as in step_report
  double half_width = 0;        ///< one entry: the interval is x[0] +- half_width

  /// The method that made x.
  /// @{
  method chosen = method::automatic;
  preconditioning preconditioner = preconditioning::none;
  /// @}
  std::string why; ///< why this method, which ones failed before it, why it ended
};

} // namespace basal::solver
