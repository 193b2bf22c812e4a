/// The router: which method solves systems with a matrix, and why.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <basal/solver/linear_operator.hpp>
#include <basal/solver/matrix_profile.hpp>
#include <basal/solver/solve_options.hpp>

namespace basal::solver {

namespace detail {
template <class T>
struct plan_data;
}

/// Everything about a system that does not depend on its right-hand side: the method, what was
/// measured to choose it, and what was computed once for it (preconditioner, transpose, tables
/// for walks). Immutable; copies share; any number of steppers on any threads may use it.
template <class T>
class solve_plan {
public:
  /// Analyses the matrix, about as much work as ten products with it, and allocates.
  /// Throws error: bad_option; dimension_mismatch; zero_diagonal, not_symmetric or
  /// no_convergence_expected if options.method names a method that the matrix does not allow.
  /// With method::automatic only broken matrices throw.
  solve_plan(linear_operator<T> a, const solve_options& options);

  /// The choice of the router, or of the options; never `automatic`.
  /// @{
  method chosen() const noexcept;
  preconditioning preconditioner() const noexcept;
  /// @}

  /// The measurements and the reason, in a sentence.
  const std::string& why() const noexcept;

  /// The options and the operator that the plan was made of. It shares the matrix.
  /// @{
  const solve_options& options() const noexcept;
  const linear_operator<T>& matrix() const noexcept;
  /// @}

  /// The measurements; of a matrix-free operator there are none.
  const matrix_profile& profile() const noexcept;

  /// Bytes that a stepper needs, to be aligned to 64; per right-hand side.
  std::size_t scratch_bytes() const noexcept;

  /// Numbers that a stepper's x must have: 1 if options.entry is set, else the size of A.
  std::size_t solution_size() const noexcept;

  /// Memory of what the plan refers to: the matrix with its packed form, factors and tables.
  /// Whatever it shares with other plans counts in each.
  std::size_t bytes() const noexcept;

  /// The plan to try when this one did not converge; none if the method was named by the user or
  /// there is nothing better. Allocates.
  std::optional<solve_plan> fallback() const;

  /// The same plan with other random numbers. Shares factors and tables, copies one vector.
  solve_plan with_seed(std::uint64_t seed) const;

  /// For the solver's own steppers.
  const detail::plan_data<T>& data() const noexcept {
    return *data_;
  }

private:
  explicit solve_plan(std::shared_ptr<const detail::plan_data<T>> data);

  std::shared_ptr<const detail::plan_data<T>> data_;
};

extern template class solve_plan<float>;
extern template class solve_plan<double>;

} // namespace basal::solver
