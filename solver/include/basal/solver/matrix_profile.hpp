/// The router's measurements of a matrix.
#pragma once

#include <basal/solver/csr_matrix.hpp>

namespace basal::solver {

/// The results of measure() for a square matrix.
struct matrix_profile {
  /// No stored diagonal element is 0, none is missing.
  bool full_diagonal = false;

  /// All diagonal elements are stored and above 0.
  bool positive_diagonal = false;

  /// Entries equal those of the transpose, up to 16 machine epsilons.
  bool symmetric = false;

  /// No entry off the diagonal has the sign of its row's diagonal element, as in an M-matrix.
  bool opposite_signs = false;

  /// Largest sum over a row of |a_ij / a_ii|, j != i: the infinity norm of I - D^-1 A. Below 1
  /// the rows dominate strictly. Infinite without a full diagonal.
  double row_ratio = 0;

  /// The same of columns, |a_ij / a_jj|, i != j: the 1-norm of I - A D^-1.
  double column_ratio = 0;

  /// The spectral radius of I - D^-1 A, by which the error of a Neumann series shrinks per term.
  /// Infinite without a full diagonal. `low` is the growth in the last of ten steps of the power
  /// iteration from a random vector, which for a symmetric matrix with a positive diagonal is never
  /// above the radius; `high` is the smaller ratio, and never below it. Between them, what the last
  /// two growths tend to.
  /// @{
  double spectral_radius = 0;
  double spectral_radius_low = 0;
  double spectral_radius_high = 0;
  /// @}
};

/// About as much work as ten products; allocates. Throws error{dimension_mismatch} unless the
/// matrix is square.
template <class T>
matrix_profile measure(const csr_matrix<T>& a);

extern template matrix_profile measure(const csr_matrix<float>&);
extern template matrix_profile measure(const csr_matrix<double>&);

} // namespace basal::solver
