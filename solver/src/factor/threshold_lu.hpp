// An incomplete factorisation that drops what is small instead of what is not in the pattern, and
// exchanges columns where a pivot would be small: ILUTP.
//
// Source: Y. Saad, "ILUT: a dual threshold incomplete LU factorization", Numer. Linear Algebra
// Appl. 1 (1994), and "Iterative Methods for Sparse Linear Systems", 2nd ed., section 10.4.
// Deviation: it works on a matched_matrix, whose entries are at most 1, so that "small" is the
// same number in all rows; and the room of a row grows with the matrix's average, as in X. S. Li,
// M. Shao, "A supernodal approach to incomplete LU factorization with partial pivoting", ACM
// Trans. Math. Softw. 37 (2011).
#pragma once

#include <cstddef>

#include "factor/matched_matrix.hpp"
#include "factor/ordered_factor.hpp"

namespace basal::solver::detail {

struct threshold {
  // Entries below it are dropped; 0 makes the factor complete, except for `fill`.
  double drop = 1e-4;

  // The largest entries are kept in each half of a row: this many times the matrix's average
  // number in a row, and 10 at least.
  double fill = 10;

  // Memory that the factor may take.
  std::size_t bytes = std::size_t{1} << 30;
};

// Throws error{too_large}, with the limit, if the factor needs more than limits.bytes.
template <class T>
ordered_factor<T> threshold_lu(const matched_matrix& a, const threshold& limits);

extern template ordered_factor<float> threshold_lu(const matched_matrix&, const threshold&);
extern template ordered_factor<double> threshold_lu(const matched_matrix&, const threshold&);

} // namespace basal::solver::detail
