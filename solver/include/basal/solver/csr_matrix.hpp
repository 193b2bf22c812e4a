/// A sparse matrix in compressed rows: immutable, validated once.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include <basal/solver/fwd.hpp>

namespace basal::solver {

namespace detail {
template <class T>
class packed_rows;
}

/// The rows of a matrix one after the other, columns ascending and unique within each row, all
/// values finite. T is float or double.
///
/// Any number of threads may use it at the same time; solves share it through
/// std::shared_ptr<const csr_matrix<T>> and never copy it. It can be moved while nobody else
/// uses it.
template <class T>
class csr_matrix {
public:
  /// The empty matrix, 0 x 0.
  csr_matrix() : row_starts_(1, 0) {
  }

  /// Row i holds the entries row_starts[i] to row_starts[i + 1] of `columns` and `values`.
  /// Throws error: dimension_mismatch (sizes that do not fit), malformed_matrix (starts that
  /// descend; columns out of range, unsorted or repeated), not_finite; each names the place.
  csr_matrix(index_type rows, index_type columns, std::vector<index_type> row_starts,
             std::vector<index_type> column_indices, std::vector<T> values);

  /// O(1). A matrix that another one was made of is empty; assignment exchanges the two.
  /// @{
  csr_matrix(csr_matrix&& other) noexcept;
  csr_matrix& operator=(csr_matrix&& other) noexcept;
  /// @}
  ~csr_matrix();

  /// The shape. O(1).
  /// @{
  index_type rows() const noexcept {
    return rows_;
  }

  index_type columns() const noexcept {
    return columns_;
  }

  bool is_square() const noexcept {
    return rows_ == columns_;
  }
  /// @}

  /// Stored entries, whether 0 or not.
  index_type nonzeros() const noexcept {
    return row_starts_.back();
  }

  /// rows() + 1 positions; the last is nonzeros().
  std::span<const index_type> row_starts() const noexcept {
    return row_starts_;
  }

  /// The columns of the stored entries, row by row, ascending within a row.
  std::span<const index_type> column_indices() const noexcept {
    return column_indices_;
  }

  /// The values of the stored entries, in the order of column_indices().
  std::span<const T> values() const noexcept {
    return values_;
  }

  /// Columns and values of one row: 0 <= row < rows(), which is not checked.
  /// @{
  std::span<const index_type> row_columns(index_type row) const noexcept {
    return column_indices().subspan(start(row), length(row));
  }

  std::span<const T> row_values(index_type row) const noexcept {
    return values().subspan(start(row), length(row));
  }
  /// @}

  /// The diagonal of a square matrix, 0 where nothing is stored.
  std::vector<T> diagonal() const;

  /// The transpose: one pass over the entries; allocates as much as this matrix has.
  csr_matrix transposed() const;

  /// The same numbers in other order, for the vector units (detail/packed_rows.hpp). Built at
  /// the first call, which allocates about as much as the matrix has; when several threads come
  /// first at once, each builds one and the first to finish wins: nobody waits.
  const detail::packed_rows<T>& packed() const;

  /// Memory of the arrays and of packed(), if it was built.
  std::size_t bytes() const noexcept;

private:
  std::size_t start(index_type row) const noexcept {
    return static_cast<std::size_t>(row_starts_[static_cast<std::size_t>(row)]);
  }

  std::size_t length(index_type row) const noexcept {
    return start(row + 1) - start(row);
  }

  index_type rows_ = 0;
  index_type columns_ = 0;
  std::vector<index_type> row_starts_;
  std::vector<index_type> column_indices_;
  std::vector<T> values_;
  // Written once by whoever builds it first, read by every product. The release
  // compare-exchange in packed() pairs with its acquire load and publishes the arrays.
  mutable std::atomic<const detail::packed_rows<T>*> packed_{nullptr};
};

extern template class csr_matrix<float>;
extern template class csr_matrix<double>;

} // namespace basal::solver
