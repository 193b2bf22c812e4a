#include <basal/solver/triplets.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <basal/solver/errors.hpp>

namespace basal::solver {

namespace {

// Stable: entries of one place stay in the order in which they came.
template <class Entry, class Key>
std::vector<Entry> counting_sort(const std::vector<Entry>& entries, index_type keys, Key key) {
  std::vector<std::size_t> next(static_cast<std::size_t>(keys) + 1, 0);
  for (const auto& e : entries)
    ++next[static_cast<std::size_t>(key(e)) + 1];
  for (std::size_t k = 1; k < next.size(); ++k)
    next[k] += next[k - 1];
  std::vector<Entry> sorted(entries.size());
  for (const auto& e : entries)
    sorted[next[static_cast<std::size_t>(key(e))]++] = e;
  return sorted;
}

} // namespace

template <class T>
triplets<T>::triplets(index_type rows, index_type columns) : rows_(rows), columns_(columns) {
  if (rows < 0 || columns < 0)
    throw error{errc::dimension_mismatch, "a matrix cannot have " + std::to_string(rows)
                                            + " rows and " + std::to_string(columns) + " columns"};
}

template <class T>
void triplets<T>::reserve(std::size_t entries) {
  entries_.reserve(entries);
}

template <class T>
void triplets<T>::add(index_type row, index_type column, T value) {
  if (row < 0 || row >= rows_ || column < 0 || column >= columns_)
    throw error{errc::malformed_matrix, "entry (" + std::to_string(row) + ", "
                                          + std::to_string(column) + ") is outside of a matrix of "
                                          + std::to_string(rows_) + " x " + std::to_string(columns_)
                                          + " (counted from 0)"};
  if (!std::isfinite(value))
    throw error{errc::not_finite, "entry (" + std::to_string(row) + ", " + std::to_string(column)
                                    + ") is " + std::to_string(value)};
  if (entries_.size() == static_cast<std::size_t>(std::numeric_limits<index_type>::max()))
    throw error{errc::too_large, "more than 2^31 - 1 entries; indices have 32 bits"};
  entries_.push_back({row, column, value});
}

template <class T>
csr_matrix<T> triplets<T>::build() && {
  auto sorted
    = counting_sort(std::exchange(entries_, {}), columns_, [](const entry& e) { return e.column; });
  sorted = counting_sort(sorted, rows_, [](const entry& e) { return e.row; });
  std::vector<index_type> starts(static_cast<std::size_t>(rows_) + 1, 0);
  std::vector<index_type> columns;
  std::vector<T> values;
  columns.reserve(sorted.size());
  values.reserve(sorted.size());
  index_type row_before = -1;
  for (const auto& e : sorted) {
    if (e.row == row_before && e.column == columns.back()) {
      values.back() += e.value;
      continue;
    }
    columns.push_back(e.column);
    values.push_back(e.value);
    ++starts[static_cast<std::size_t>(e.row) + 1];
    row_before = e.row;
  }
  for (std::size_t r = 1; r < starts.size(); ++r)
    starts[r] += starts[r - 1];
  // Validates once more: sums of finite values can overflow.
  return {rows_, columns_, std::move(starts), std::move(columns), std::move(values)};
}

template class triplets<float>;
template class triplets<double>;

} // namespace basal::solver
