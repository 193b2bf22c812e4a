// Steps of a random walk for A x = b: x_i = c_i + sum of h_ij x_j with H = I - D^-1 A.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <basal/solver/csr_matrix.hpp>

namespace basal::solver::detail {

// Per row, the running sums of |h_ij|. A walk at i goes to j with probability |h_ij| and ends
// with what is left of 1. Immutable.
struct walk_table {
  template <class T>
  explicit walk_table(const csr_matrix<T>& a);

  struct step {
    double until;  // sum of |h_ij| up to this one
    index_type to; // column, or ~column if h_ij is negative
  };

  // The next place of a walk at `row` that draws u in [0, 1); null if it ends there.
  const step* next(index_type row, double u) const noexcept;

  std::size_t bytes() const noexcept {
    return row_starts.capacity() * sizeof(index_type) + steps.capacity() * sizeof(step)
           + end_weight.capacity() * sizeof(double);
  }

  std::vector<index_type> row_starts;
  std::vector<step> steps;
  std::vector<double> end_weight; // 1 / (a_ii * (1 - sum of |h_ij|))
};

} // namespace basal::solver::detail
