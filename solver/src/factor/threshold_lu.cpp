#include "factor/threshold_lu.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include <basal/solver/errors.hpp>

#include "at.hpp"
#include "factor/cuthill_mckee.hpp"

namespace basal::solver::detail {

namespace {

// A pivot this much smaller than another entry of its row gives way to it (Saad recommends 0.1 to
// 0.01; columns change places seldom, as the diagonal was chosen before).
constexpr double pivot_share = 0.05;

// A pivot up to this is the rounding error of a row that depends on those above it, in entries of
// magnitude 1. The factor is then that of a matrix with `pivot_instead` on the diagonal.
constexpr double smallest_pivot = 1e-14;
constexpr double pivot_instead = 1e-8;

struct entry {
  index_type column;
  double value;
};

// The largest `count` of them, in no order. Equal ones: lower columns first, so that the result
// is fixed.
void keep_largest(std::vector<entry>& row, std::size_t count) {
  if (row.size() <= count)
    return;
  std::nth_element(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(count), row.end(),
                   [](const entry& x, const entry& y) {
                     const double a = std::abs(x.value);
                     const double b = std::abs(y.value);
                     return a > b || (a == b && x.column < y.column);
                   });
  row.resize(count);
}

// Row after row of L and U. A column is named by its number in the matrix; `place_of` says where
// it stands, which changes for places that are still to come.
template <class T>
class elimination {
public:
  elimination(const matched_matrix& a, const threshold& limits)
    : a_(a), limits_(limits), n_(at(a.matrix.rows())), column_at_(reverse_cuthill_mckee(a.matrix)) {
    rows_ = column_at_;
    place_of_.resize(n_);
    for (std::size_t k = 0; k < n_; ++k)
      place_of_[at(column_at_[k])] = static_cast<index_type>(k);
    row_.assign(n_, 0);
    is_in_row_.assign(n_, 0);
    const double average = static_cast<double>(a.matrix.nonzeros())
                           / static_cast<double>(std::max<std::size_t>(n_, 1));
    const double room = std::max(10.0, std::ceil(limits.fill * average));
    room_ = room < static_cast<double>(n_) ? static_cast<std::size_t>(room) : n_;
  }

  ordered_factor<T> run() && {
    for (std::size_t k = 0; k < n_; ++k) {
      place_ = k;
      scatter(rows_[k]);
      eliminate();
      choose_pivot();
      store();
      if (bytes() > limits_.bytes)
        throw error{errc::too_large, "an incomplete factor that drops what is below "
                                       + std::to_string(limits_.drop) + " needs more than the "
                                       + std::to_string(limits_.bytes)
                                       + " bytes of solve_options::factor_bytes"};
    }
    return finish();
  }

private:
  void scatter(index_type row) {
    const auto columns = a_.matrix.row_columns(row);
    const auto values = a_.matrix.row_values(row);
    for (std::size_t k = 0; k < columns.size(); ++k)
      add(columns[k], values[k]);
  }

  void add(index_type column, double value) {
    row_[at(column)] += value;
    if (is_in_row_[at(column)] == 0) {
      is_in_row_[at(column)] = 1;
      in_row_.push_back(column);
      if (at(place_of_[at(column)]) < place_) {
        to_eliminate_.push_back(place_of_[at(column)]);
        std::push_heap(to_eliminate_.begin(), to_eliminate_.end(), std::greater<>{});
      }
    }
  }

  // Subtracts multiples of the rows above, from the left to the right.
  void eliminate() {
    left_.clear();
    while (!to_eliminate_.empty()) {
      std::pop_heap(to_eliminate_.begin(), to_eliminate_.end(), std::greater<>{});
      const auto above = at(to_eliminate_.back());
      to_eliminate_.pop_back();
      const double multiple = row_[at(column_at_[above])] * inverse_pivot_[above];
      if (!(std::abs(multiple) > limits_.drop))
        continue;
      left_.push_back({static_cast<index_type>(above), multiple});
      for (auto m = upper_starts_[above]; m < upper_starts_[above + 1]; ++m)
        add(upper_[m].column, -multiple * upper_[m].value);
    }
    right_.clear();
    for (const index_type c : in_row_) {
      if (at(place_of_[at(c)]) >= place_)
        right_.push_back({c, row_[at(c)]});
      row_[at(c)] = 0;
      is_in_row_[at(c)] = 0;
    }
    in_row_.clear();
  }

  // Takes the pivot out of right_; a column may come to place k for it.
  void choose_pivot() {
    const auto k = place_;
    const index_type here = column_at_[k];
    double mine = 0;
    entry largest{here, 0};
    for (const auto& e : right_) {
      if (e.column == here)
        mine = e.value;
      if (std::abs(e.value) > std::abs(largest.value)
          || (std::abs(e.value) == std::abs(largest.value) && e.column < largest.column))
        largest = e;
    }
    entry pivot{here, mine};
    if (std::abs(mine) < pivot_share * std::abs(largest.value)) {
      pivot = largest;
      const auto there = at(place_of_[at(pivot.column)]);
      std::swap(column_at_[k], column_at_[there]);
      place_of_[at(here)] = static_cast<index_type>(there);
      place_of_[at(pivot.column)] = static_cast<index_type>(k);
    }
    if (!(std::abs(pivot.value) > smallest_pivot)) {
      pivot.value = pivot.value < 0 ? -pivot_instead : pivot_instead;
      ++replaced_;
    }
    inverse_pivot_.push_back(1 / pivot.value);
    std::erase_if(right_, [&](const entry& e) {
      return e.column == pivot.column || !(std::abs(e.value) > limits_.drop);
    });
  }

  void store() {
    keep_largest(left_, room_);
    std::sort(left_.begin(), left_.end(),
              [](const entry& x, const entry& y) { return x.column < y.column; });
    for (const auto& e : left_) {
      lower_.columns.push_back(e.column);
      lower_.values.push_back(static_cast<T>(e.value));
    }
    lower_.row_starts.push_back(static_cast<index_type>(lower_.columns.size()));
    keep_largest(right_, room_);
    upper_.insert(upper_.end(), right_.begin(), right_.end());
    upper_starts_.push_back(upper_.size());
  }

  // While it is built: U's rows are copied at the end, when all columns have their places.
  std::size_t bytes() const noexcept {
    return lower_.columns.size() * (sizeof(index_type) + sizeof(T))
           + upper_.size() * (sizeof(entry) + sizeof(index_type) + sizeof(T));
  }

  ordered_factor<T> finish() {
    ordered_factor<T> f;
    f.lower = std::move(lower_);
    f.upper.columns.reserve(upper_.size());
    f.upper.values.reserve(upper_.size());
    for (std::size_t k = 0; k < n_; ++k) {
      const auto begin = upper_.begin() + static_cast<std::ptrdiff_t>(upper_starts_[k]);
      const auto end = upper_.begin() + static_cast<std::ptrdiff_t>(upper_starts_[k + 1]);
      for (auto e = begin; e != end; ++e)
        e->column = place_of_[at(e->column)];
      std::sort(begin, end, [](const entry& x, const entry& y) { return x.column > y.column; });
      for (auto e = begin; e != end; ++e) {
        f.upper.columns.push_back(e->column);
        f.upper.values.push_back(static_cast<T>(e->value * inverse_pivot_[k]));
      }
      f.upper.row_starts.push_back(static_cast<index_type>(f.upper.columns.size()));
      f.upper.inverse_diagonal.push_back(static_cast<T>(inverse_pivot_[k]));
      f.row_order.push_back(a_.row_order[at(rows_[k])]);
      f.row_scale.push_back(static_cast<T>(a_.row_scale[at(rows_[k])]));
      f.column_scale.push_back(static_cast<T>(a_.column_scale[at(column_at_[k])]));
    }
    f.column_order = std::move(column_at_);
    f.replaced_pivots = replaced_;
    return f;
  }

  const matched_matrix& a_;
  threshold limits_;
  std::size_t n_;
  std::size_t room_ = 0;
  std::size_t place_ = 0;             // of the row that is worked on
  std::vector<index_type> rows_;      // of the matched matrix, by place
  std::vector<index_type> column_at_; // by place
  std::vector<index_type> place_of_;  // by column
  std::vector<double> row_;           // that row, by column
  std::vector<char> is_in_row_;
  std::vector<index_type> in_row_;
  std::vector<index_type> to_eliminate_; // places, a heap with the lowest first
  std::vector<entry> left_;              // its part of L, by place
  std::vector<entry> right_;             // its part of U, by column
  std::vector<double> inverse_pivot_;
  std::vector<std::size_t> upper_starts_{0};
  std::vector<entry> upper_; // by column, without pivots
  triangle_arrays<T> lower_;
  std::size_t replaced_ = 0;
};

} // namespace

template <class T>
ordered_factor<T> threshold_lu(const matched_matrix& a, const threshold& limits) {
  return elimination<T>{a, limits}.run();
}

template ordered_factor<float> threshold_lu(const matched_matrix&, const threshold&);
template ordered_factor<double> threshold_lu(const matched_matrix&, const threshold&);

} // namespace basal::solver::detail
