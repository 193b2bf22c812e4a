// The residual that decides how a solve ends, |b - A x| / |b|. Where rounding errors may decide
// whether it is below the tolerance, or below 1, that of zeros, it is computed again in twice the
// precision.
//
// Source: T. Ogita, S. M. Rump and S. Oishi, "Accurate Sum and Dot Product", SIAM J. Sci. Comput.
// 26(6), 2005, algorithm 5.3 (Dot2). Bound of the rounding errors: N. J. Higham, "Accuracy and
// Stability of Numerical Algorithms", 2nd ed., section 3.5.
#pragma once

#include <cstddef>
#include <span>

#include <basal/solver/csr_matrix.hpp>

#include "plan_data.hpp"

namespace basal::solver::detail {

// Times the largest |x_i|, a bound of the 2-norm of the rounding errors of A x.
template <class T>
double rounding_of_products(const csr_matrix<T>& a) noexcept;

// One column of a block that is stored by rows; a vector is a block of one column.
template <class T>
struct column_of {
  std::size_t column;
  std::size_t width;
  double b_norm; // positive
  std::span<const T> x;
  std::span<const T> b;
};

// The residual of a column, of which `residual` is what products in T gave: that, where rounding
// decides nothing, else in twice the precision. Of an operator without a matrix, and where sums
// overflow, `residual` is all there is.
template <class T>
double precise_residual(const plan_data<T>& plan, double residual, const column_of<T>& of) noexcept;

// r = b - A x by products in T; returns its norm over that of b, precise where that matters.
template <class T>
double true_residual(const plan_data<T>& plan, double b_norm, std::span<const T> x,
                     std::span<const T> b, std::span<T> r) noexcept;

} // namespace basal::solver::detail
