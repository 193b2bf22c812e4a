// A matrix with its large entries on the diagonal, all of one magnitude: what factors are made of.
#pragma once

#include <vector>

#include <basal/solver/csr_matrix.hpp>

namespace basal::solver::detail {

// Row k of `matrix` is row row_order[k] of A; entry (k, j) is the one of A times row_scale[k]
// column_scale[j]. Its diagonal elements are 1 or -1, up to rounding, and no entry is larger.
struct matched_matrix {
  csr_matrix<double> matrix;
  std::vector<index_type> row_order;
  std::vector<double> row_scale;
  std::vector<double> column_scale;
};

// By find_maximum_transversal. Throws error: zero_diagonal if A is structurally singular, saying
// how many rows have a column; not_finite if its values are so far apart that scales overflow.
template <class T>
matched_matrix match(const csr_matrix<T>& a);

extern template matched_matrix match(const csr_matrix<float>&);
extern template matched_matrix match(const csr_matrix<double>&);

} // namespace basal::solver::detail
