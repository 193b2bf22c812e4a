/// A matrix laid out for vector units.
///
/// SELL-C-sigma (Kreutzer, Hager, Wellein, Fehske, Bishop: "A unified sparse matrix data format
/// for efficient general sparse matrix-vector multiplication on modern processors with wide SIMD
/// units", SIAM J. Sci. Comput. 36(5), 2014): a chunk is as many rows as a 64-byte vector has
/// lanes, stored column by column, so that each lane adds up one row from left to right. Two
/// deviations:
///
/// - In a *run* chunk every block of values meets consecutive entries of x, as in the matrix of
///   a stencil. It stores one column per block instead of one per value and needs no gather.
///   Lanes whose row lacks the entry hold a 0 there.
/// - Rows of `long_row` entries and more, and empty ones, are left in the compressed rows: they
///   would fill chunks with padding.
#pragma once

#include <cstdint>
#include <vector>

#include <basal/solver/detail/aligned_array.hpp>
#include <basal/solver/fwd.hpp>

namespace basal::solver::detail {

/// Immutable, so any thread may read it. The arrays do not depend on the CPU.
template <class T>
class packed_rows {
public:
  /// Rows of a chunk.
  static constexpr index_type lanes = static_cast<index_type>(alignment / sizeof(T));

  /// From this length on a row fills vectors by itself: two per step, several steps.
  static constexpr index_type long_row = 64;

  explicit packed_rows(const csr_matrix<T>& source);

  /// All rows are in chunks, in their own order: chunk c begins with row c * lanes.
  bool in_order() const noexcept {
    return in_order_;
  }

  /// Rows in chunks. The last chunk is filled up with lanes that hold zeros.
  index_type packed_count() const noexcept {
    return packed_count_;
  }

  /// Per chunk, twice the number of blocks, plus 1 if it is a run chunk.
  const std::vector<std::uint32_t>& headers() const noexcept {
    return headers_;
  }

  /// Blocks of `lanes` values, chunk after chunk.
  const T* values() const noexcept {
    return values_.data();
  }

  /// Of each block: in a run chunk the column of lane 0, else the columns of all lanes.
  const index_type* columns() const noexcept {
    return columns_.data();
  }

  /// Unless in_order(): the row of each lane.
  const std::vector<index_type>& rows() const noexcept {
    return rows_;
  }

  /// Unless in_order(): rows that are in no chunk.
  const std::vector<index_type>& unpacked_rows() const noexcept {
    return unpacked_rows_;
  }

  std::size_t bytes() const noexcept;

private:
  class builder;

  bool in_order_ = true;
  index_type packed_count_ = 0;
  std::vector<std::uint32_t> headers_;
  aligned_array<T> values_;
  aligned_array<index_type> columns_;
  std::vector<index_type> rows_;
  std::vector<index_type> unpacked_rows_;
};

extern template class packed_rows<float>;
extern template class packed_rows<double>;

} // namespace basal::solver::detail
