// A transversal of large entries, and scales that make them 1: the remedy for zeros on the
// diagonal and for rows and columns of different magnitude.
//
// Source: I. S. Duff, J. Koster, "On algorithms for permuting large entries to the diagonal of a
// sparse matrix", SIAM J. Matrix Anal. Appl. 22 (2001), doi:10.1137/S0895479899358443: the variant
// that maximises the product of the chosen entries (MC64's job 5), by shortest augmenting paths.
// Deviation: a path begins at a row, since the matrix is stored by rows.
#pragma once

#include <vector>

#include <basal/solver/csr_matrix.hpp>

namespace basal::solver::detail {

// A choice of one entry in each row and column, and the scales that go with it: of
// row_scale[i] |a_ij| column_scale[j] none is above 1 and the chosen ones are 1, up to rounding.
struct maximum_transversal {
  std::vector<index_type> column_of_row; // -1: the row has no column
  std::vector<double> row_scale;
  std::vector<double> column_scale;

  // Below the size of the matrix it is structurally singular, and the rest means nothing.
  index_type matched = 0;
};

// Of a square matrix; stored zeros are no entries. The result is fixed by the matrix. Usually
// linear in the entries, at worst n (n + entries) log n. Allocates.
template <class T>
maximum_transversal find_maximum_transversal(const csr_matrix<T>& a);

extern template maximum_transversal find_maximum_transversal(const csr_matrix<float>&);
extern template maximum_transversal find_maximum_transversal(const csr_matrix<double>&);

} // namespace basal::solver::detail
