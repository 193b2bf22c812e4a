/// Sparse triangular systems, solved in place.
#pragma once

#include <span>

#include <basal/solver/fwd.hpp>
#include <basal/solver/summation.hpp>

namespace basal::solver::kernels {

/// Rows of a triangular matrix without its diagonal, each scaled by its diagonal element. Within a
/// row the columns approach the diagonal: ascending in a lower matrix, descending in an upper one.
/// So the row before is used last, and rows overlap except for one operation.
template <class T>
struct triangle {
  std::span<const index_type> row_starts;
  std::span<const index_type> columns;
  std::span<const T> values;
  std::span<const T> inverse_diagonal; ///< empty: ones
};

/// z = L^-1 r. r may be z.
template <class T>
void solve_lower(const triangle<T>& lower, std::span<const T> r, std::span<T> z, summation order);

/// z = U^-1 z
template <class T>
void solve_upper(const triangle<T>& upper, std::span<T> z, summation order);

} // namespace basal::solver::kernels
