/// How a linear system is to be solved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <basal/solver/fwd.hpp>
#include <basal/solver/summation.hpp>

namespace basal::solver {

/// How a system is solved. A closed set: CONTRIBUTING.md says what a new one takes.
enum class method : std::uint8_t {
  automatic,          ///< the router chooses and says why (solve_plan)
  neumann,            ///< x += D^-1 (b - A x); needs a convergent series
  conjugate_gradient, ///< symmetric positive definite A
  bicgstab,           ///< any other A
  gmres,              ///< any A; more memory, fewer surprises
  direct,             ///< any A: a complete factor and refinement (build_config.hpp: if built so)
  forward_push,       ///< residuals one at a time; sparse b, needs column dominance
  backward_push,      ///< one entry of x, exact bounds; needs row dominance
  random_walk,        ///< one entry of x with a confidence interval; needs row dominance
};

/// With what approximation of the matrix an iteration is made to converge sooner.
enum class preconditioning : std::uint8_t {
  automatic,  ///< the router chooses
  none,       ///< plain iteration
  jacobi,     ///< the diagonal
  incomplete, ///< IC(0) for conjugate gradients, ILU(0) for others: as many entries as A has

  // For zeros on the diagonal and entries of all magnitudes: rows change places and are scaled
  // first. Not for conjugate gradients.
  threshold,       ///< ILUTP: what is small is dropped, 10 times as many entries as A has at most
  nearly_complete, ///< ILUTP that drops next to nothing
};

/// "neumann" etc.
std::string_view to_string(method m) noexcept;

/// The enumerator's name.
std::string_view to_string(preconditioning p) noexcept;

/// The inverse of to_string; empty for an unknown name.
std::optional<method> method_from(std::string_view name) noexcept;

/// The inverse of to_string; empty for an unknown name.
std::optional<preconditioning> preconditioning_from(std::string_view name) noexcept;

/// In the order of the enumeration, with `automatic`.
std::span<const method> all_methods();

/// Does the method compute options.entry alone, which must be set?
bool computes_one_entry(method m) noexcept;

/// The wanted method, accuracy and part of x. Plain data; solve_plan checks it.
struct solve_options {
  solver::method method = solver::method::automatic; ///< by which method

  /// With which preconditioner, if the method takes one.
  solver::preconditioning preconditioner = solver::preconditioning::automatic;

  /// Converged when |b - A x| <= tolerance |b| (2-norms). For one entry: when the half-width of
  /// its interval is at most tolerance times its estimate. At least 4 machine epsilons are
  /// used, so that 0 means: as exact as the number type allows, which may end as stalled.
  double tolerance = 1e-6;

  /// Steps after which the result is budget_exhausted. 0 is allowed: x stays the first guess,
  /// or becomes zeros where those are better.
  std::uint64_t iteration_limit = 10'000;

  /// Solve for this entry of x alone (random_walk, backward_push).
  std::optional<index_type> entry = {};

  /// Walks draw from (seed, number of the walk, number of the step) and nothing else.
  std::uint64_t seed = 0;

  /// Walks per step().
  std::uint32_t walks_per_step = 256;

  /// Random walks: probability with which the interval holds the entry; below 1.
  double confidence = 0.95;

  summation order = summation::native; ///< the order in which kernels add up

  /// Memory that a threshold, nearly_complete or complete factor may take while it is made. One
  /// that would take more is passed over by the router, and refused if it was named.
  std::size_t factor_bytes = std::size_t{512} << 20;

  friend bool operator==(const solve_options&, const solve_options&) = default;
};

/// Throws error{bad_option}, naming the option and its range.
void validate(const solve_options& options);

} // namespace basal::solver
