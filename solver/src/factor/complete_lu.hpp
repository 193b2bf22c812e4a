// A complete sparse LU factorisation with pivoting, by a library: Eigen's SparseLU (after J. W.
// Demmel, S. C. Eisenstat, J. R. Gilbert, X. S. Li, J. W. H. Liu, "A supernodal approach to sparse
// partial pivoting", SIAM J. Matrix Anal. Appl. 20 (1999)), in the order of minimum degree (P. R.
// Amestoy, T. A. Davis, I. S. Duff, SIAM J. Matrix Anal. Appl. 17 (1996)). Its diagonal was chosen
// before, as in X. S. Li, J. W. Demmel, "SuperLU_DIST", ACM Trans. Math. Softw. 29 (2003), so that
// pivots seldom leave it and the fill is about what symbolic_fill counts.
//
// The factors are copied out of the library: solving with them then allocates nothing, is done by
// the kernels of the incomplete factors, and gives the same bits on any number of threads.
#pragma once

#include <cstddef>

#include "factor/matched_matrix.hpp"
#include "factor/ordered_factor.hpp"

namespace basal::solver::detail {

// Memory that the factorisation takes for an entry of L or U at its peak: the library's supernodes
// with what its arrays have grown too far, and the copy.
inline constexpr std::size_t bytes_per_complete_entry = 48;

// Throws error: too_large if the factorisation would take more than `bytes` of memory, with the
// estimate; zero_diagonal if a pivot is 0, which is to say that A is singular; bad_option if this
// library was built without one.
template <class T>
ordered_factor<T> complete_lu(const matched_matrix& a, std::size_t bytes);

extern template ordered_factor<float> complete_lu(const matched_matrix&, std::size_t);
extern template ordered_factor<double> complete_lu(const matched_matrix&, std::size_t);

} // namespace basal::solver::detail
