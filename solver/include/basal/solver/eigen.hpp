/// Matrices from and to Eigen. Needs Eigen 3.4, which the rest of the solver does not.
#pragma once

#if __has_include(<Eigen/SparseCore>)

#  include <vector>

#  include <Eigen/SparseCore>

#  include <basal/solver/csr_matrix.hpp>

namespace basal::solver {

/// Copies any sparse Eigen matrix. Throws error as csr_matrix does, not_finite say.
template <class Derived>
auto from_eigen(const Eigen::SparseMatrixBase<Derived>& matrix) {
  using value = typename Derived::Scalar;
  Eigen::SparseMatrix<value, Eigen::RowMajor, index_type> rows = matrix.derived();
  rows.makeCompressed();
  const auto entries = static_cast<std::size_t>(rows.nonZeros());
  const auto* starts = rows.outerIndexPtr();
  return csr_matrix<value>{
    static_cast<index_type>(rows.rows()), static_cast<index_type>(rows.cols()),
    std::vector<index_type>(starts, starts + rows.rows() + 1),
    std::vector<index_type>(rows.innerIndexPtr(), rows.innerIndexPtr() + entries),
    std::vector<value>(rows.valuePtr(), rows.valuePtr() + entries)};
}

/// A view of the matrix as Eigen's; copies nothing and lives no longer than the matrix.
template <class T>
auto as_eigen(const csr_matrix<T>& matrix) {
  return Eigen::Map<const Eigen::SparseMatrix<T, Eigen::RowMajor, index_type>>{
    matrix.rows(),
    matrix.columns(),
    matrix.nonzeros(),
    matrix.row_starts().data(),
    matrix.column_indices().data(),
    matrix.values().data()};
}

} // namespace basal::solver

#endif
