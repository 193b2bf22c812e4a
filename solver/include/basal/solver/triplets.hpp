/// Building a matrix entry by entry.
#pragma once

#include <cstddef>
#include <vector>

#include <basal/solver/csr_matrix.hpp>

namespace basal::solver {

/// Collects entries in any order; entries at the same place are added up, in the order in which
/// they came. Belongs to one thread.
template <class T>
class triplets {
public:
  /// Throws error{dimension_mismatch} if a size is negative.
  triplets(index_type rows, index_type columns);

  /// Room for `entries` entries, so that add() does not allocate until then. Throws std::bad_alloc.
  void reserve(std::size_t entries);

  /// Throws error: malformed_matrix outside of the matrix, not_finite, too_large after
  /// 2^31 - 1 entries.
  void add(index_type row, index_type column, T value);

  /// Entries that were added, repeated ones counted each.
  std::size_t size() const noexcept {
    return entries_.size();
  }

  /// Two counting passes, no comparison sort. Leaves nothing behind in *this.
  csr_matrix<T> build() &&;

private:
  struct entry {
    index_type row;
    index_type column;
    T value;
  };

  index_type rows_;
  index_type columns_;
  std::vector<entry> entries_;
};

extern template class triplets<float>;
extern template class triplets<double>;

} // namespace basal::solver
