// How large a complete factor would be, before one is made.
//
// Source: J. W. H. Liu, "A compact row storage scheme for Cholesky factors using elimination
// trees", ACM Trans. Math. Softw. 12 (1986); the loop is that of T. A. Davis, "Algorithm 849: A
// concise sparse Cholesky factorization package", ACM Trans. Math. Softw. 31 (2005).
#pragma once

#include <cstddef>
#include <span>

#include <basal/solver/csr_matrix.hpp>

namespace basal::solver::detail {

// Entries below the diagonal of L, where L L' is a matrix with the pattern of A + A', its unknowns
// taken in `order`. That is also what L and U have each, if no pivot leaves the diagonal; a pivot
// that does may add to it. Counting ends at `limit`: then the result is above it. Takes time and
// memory as large as the result at most.
std::size_t symbolic_fill(const csr_matrix<double>& a, std::span<const index_type> order,
                          std::size_t limit);

} // namespace basal::solver::detail
