// An order of the unknowns in which those that meet in an equation are near each other, so that a
// factor with little fill comes close to the complete one.
//
// Sources: E. Cuthill, J. McKee, "Reducing the bandwidth of sparse symmetric matrices", ACM 1969;
// reversed: A. George, J. Liu, "Computer Solution of Large Sparse Positive Definite Systems",
// 1981, with their search for a first node. For incomplete factors of non-symmetric matrices:
// M. Benzi, D. Szyld, A. van Duin, "Orderings for incomplete factorization preconditioning of
// nonsymmetric problems", SIAM J. Sci. Comput. 20 (1999).
#pragma once

#include <vector>

#include <basal/solver/csr_matrix.hpp>

namespace basal::solver::detail {

// Place k of the result holds an unknown of the square matrix `a`, each once. The order is that of
// the pattern of A + A'. Linear in the entries except for the sorting of neighbours by degree.
std::vector<index_type> reverse_cuthill_mckee(const csr_matrix<double>& a);

} // namespace basal::solver::detail
