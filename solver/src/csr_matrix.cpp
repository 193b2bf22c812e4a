#include <basal/solver/csr_matrix.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <basal/solver/detail/packed_rows.hpp>
#include <basal/solver/errors.hpp>

#include "at.hpp"

namespace basal::solver {

namespace {

using detail::at;

void check_shape(index_type rows, index_type columns, const std::vector<index_type>& starts,
                 std::size_t column_count, std::size_t value_count) {
  if (rows < 0 || columns < 0)
    throw error{errc::dimension_mismatch, "a matrix cannot have " + std::to_string(rows)
                                            + " rows and " + std::to_string(columns) + " columns"};
  if (starts.size() != at(rows) + 1)
    throw error{errc::dimension_mismatch, "a matrix of " + std::to_string(rows) + " rows needs "
                                            + std::to_string(at(rows) + 1) + " row starts, not "
                                            + std::to_string(starts.size())};
  if (starts.front() != 0 || at(starts.back()) != column_count || column_count != value_count)
    throw error{errc::dimension_mismatch,
                "row starts from " + std::to_string(starts.front()) + " to "
                  + std::to_string(starts.back()) + " do not fit " + std::to_string(column_count)
                  + " columns and " + std::to_string(value_count) + " values"};
  // Before any row is looked at: only ascending starts stay within the arrays.
  for (std::size_t r = 0; r + 1 < starts.size(); ++r) {
    if (starts[r + 1] < starts[r])
      throw error{errc::malformed_matrix, "row " + std::to_string(r) + " ends before it starts"};
  }
}

} // namespace

template <class T>
csr_matrix<T>::csr_matrix(index_type rows, index_type columns, std::vector<index_type> row_starts,
                          std::vector<index_type> column_indices, std::vector<T> values)
  : rows_(rows),
    columns_(columns),
    row_starts_(std::move(row_starts)),
    column_indices_(std::move(column_indices)),
    values_(std::move(values)) {
  check_shape(rows_, columns_, row_starts_, column_indices_.size(), values_.size());
  for (index_type r = 0; r < rows_; ++r) {
    const auto cols = row_columns(r);
    const auto vals = row_values(r);
    index_type before = -1;
    for (std::size_t k = 0; k < cols.size(); ++k) {
      const auto place
        = [&] { return "row " + std::to_string(r) + ", column " + std::to_string(cols[k]); };
      if (cols[k] < 0 || cols[k] >= columns_)
        throw error{errc::malformed_matrix,
                    place() + ": there are only " + std::to_string(columns_) + " columns"};
      if (cols[k] <= before)
        throw error{errc::malformed_matrix,
                    place() + " comes after column " + std::to_string(before)
                      + "; columns must ascend (triplets sorts and adds up)"};
      if (!std::isfinite(vals[k]))
        throw error{errc::not_finite, place() + " holds " + std::to_string(vals[k])};
      before = cols[k];
    }
  }
}

template <class T>
csr_matrix<T>::csr_matrix(csr_matrix&& other) noexcept : csr_matrix() {
  *this = std::move(other);
}

template <class T>
csr_matrix<T>& csr_matrix<T>::operator=(csr_matrix&& other) noexcept {
  std::swap(rows_, other.rows_);
  std::swap(columns_, other.columns_);
  row_starts_.swap(other.row_starts_);
  column_indices_.swap(other.column_indices_);
  values_.swap(other.values_);
  // Relaxed: whoever moves a matrix is alone with it.
  const auto* mine = packed_.load(std::memory_order_relaxed);
  packed_.store(other.packed_.exchange(mine, std::memory_order_relaxed), std::memory_order_relaxed);
  return *this;
}

template <class T>
csr_matrix<T>::~csr_matrix() {
  // Relaxed: whoever destroys a matrix is alone with it.
  delete packed_.load(std::memory_order_relaxed);
}

template <class T>
std::vector<T> csr_matrix<T>::diagonal() const {
  std::vector<T> result(at(std::min(rows_, columns_)), T{0});
  for (index_type r = 0; r < static_cast<index_type>(result.size()); ++r) {
    const auto cols = row_columns(r);
    const auto found = std::lower_bound(cols.begin(), cols.end(), r);
    if (found != cols.end() && *found == r)
      result[at(r)] = row_values(r)[at(static_cast<index_type>(found - cols.begin()))];
  }
  return result;
}

template <class T>
csr_matrix<T> csr_matrix<T>::transposed() const {
  csr_matrix result;
  result.rows_ = columns_;
  result.columns_ = rows_;
  result.row_starts_.assign(at(columns_) + 1, 0);
  for (const index_type c : column_indices_)
    ++result.row_starts_[at(c) + 1];
  for (std::size_t c = 0; c < at(columns_); ++c)
    result.row_starts_[c + 1] += result.row_starts_[c];
  result.column_indices_.resize(column_indices_.size());
  result.values_.resize(values_.size());
  auto next = result.row_starts_;
  for (index_type r = 0; r < rows_; ++r) {
    const auto cols = row_columns(r);
    const auto vals = row_values(r);
    for (std::size_t k = 0; k < cols.size(); ++k) {
      const auto to = at(next[at(cols[k])]++);
      result.column_indices_[to] = r;
      result.values_[to] = vals[k];
    }
  }
  return result;
}

template <class T>
const detail::packed_rows<T>& csr_matrix<T>::packed() const {
  // Pairs with the release below.
  const auto* known = packed_.load(std::memory_order_acquire);
  if (known != nullptr) [[likely]]
    return *known;
  auto built = std::make_unique<const detail::packed_rows<T>>(*this);
  if (packed_.compare_exchange_strong(known, built.get(), std::memory_order_release,
                                      std::memory_order_acquire))
    return *built.release();
  return *known;
}

template <class T>
std::size_t csr_matrix<T>::bytes() const noexcept {
  const auto* packed = packed_.load(std::memory_order_acquire); // pairs with packed()'s release
  return (row_starts_.size() + column_indices_.size()) * sizeof(index_type)
         + values_.size() * sizeof(T) + (packed == nullptr ? 0 : packed->bytes());
}

template class csr_matrix<float>;
template class csr_matrix<double>;

} // namespace basal::solver
