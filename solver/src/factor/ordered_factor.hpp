// L U of a matrix whose rows and columns were put in another order and scaled, as a
// preconditioner of the matrix itself.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <basal/solver/fwd.hpp>
#include <basal/solver/summation.hpp>

namespace basal::solver::detail {

// Rows one after the other, as kernels::triangle wants them.
template <class T>
struct triangle_arrays {
  std::vector<index_type> row_starts{0};
  std::vector<index_type> columns;
  std::vector<T> values;
  std::vector<T> inverse_diagonal; // empty: ones

  std::size_t bytes() const noexcept {
    return (row_starts.capacity() + columns.capacity()) * sizeof(index_type)
           + (values.capacity() + inverse_diagonal.capacity()) * sizeof(T);
  }
};

// Place k of L and U belongs to row row_order[k] of A, which was multiplied by row_scale[k], and
// to its column column_order[k], multiplied by column_scale[k]. Immutable; any thread may apply
// it.
template <class T>
struct ordered_factor {
  triangle_arrays<T> lower;
  triangle_arrays<T> upper;
  std::vector<index_type> row_order;
  std::vector<index_type> column_order;
  std::vector<T> row_scale;
  std::vector<T> column_scale;
  std::size_t replaced_pivots = 0; // that were 0, or almost

  // z is about A^-1 r; allocates nothing. Spans of the matrix's size that do not overlap; `work`
  // may hold anything.
  void apply(std::span<const T> r, std::span<T> z, std::span<T> work,
             summation order) const noexcept;

  std::size_t entries() const noexcept {
    return lower.columns.size() + upper.columns.size() + row_order.size();
  }

  std::size_t bytes() const noexcept {
    return lower.bytes() + upper.bytes()
           + (row_order.capacity() + column_order.capacity()) * sizeof(index_type)
           + (row_scale.capacity() + column_scale.capacity()) * sizeof(T);
  }
};

extern template struct ordered_factor<float>;
extern template struct ordered_factor<double>;

} // namespace basal::solver::detail
