#include "factor/maximum_transversal.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include "at.hpp"
#include "portable_math.hpp"

namespace basal::solver::detail {

namespace {

constexpr double unreachable = std::numeric_limits<double>::infinity();

// The product is largest where the sum of costs is smallest: an entry's cost is the logarithm of
// what it lacks to the largest of its row. `row_price_` and `column_price_` never add up to more
// than an entry's cost, and to just that for chosen entries; so shortest paths, in what is left of
// the costs, keep the choice optimal as it grows by a row at a time.
template <class T>
class search {
public:
  explicit search(const csr_matrix<T>& a)
    : a_(a),
      n_(at(a.rows())),
      row_log_(n_, 0),
      row_price_(n_, 0),
      column_price_(n_, unreachable),
      row_of_column_(n_, -1),
      distance_(n_, unreachable),
      reached_from_(n_, -1),
      settled_(n_, false) {
    found_.column_of_row.assign(n_, -1);
  }

  maximum_transversal run() && {
    price();
    match_what_is_free();
    for (index_type r = 0; r < a_.rows(); ++r) {
      if (found_.column_of_row[at(r)] < 0)
        augment(r);
    }
    if (found_.matched < a_.rows())
      return std::move(found_);
    found_.row_scale.resize(n_);
    found_.column_scale.resize(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      found_.row_scale[i] = portable_exp(row_price_[i] - row_log_[i]);
      found_.column_scale[i] = portable_exp(column_price_[i]);
    }
    return std::move(found_);
  }

private:
  template <class Body>
  void each_entry(index_type row, Body body) const {
    const auto columns = a_.row_columns(row);
    const auto values = a_.row_values(row);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      if (values[k] != 0)
        body(columns[k],
             row_log_[at(row)] - portable_log(std::abs(static_cast<double>(values[k]))));
    }
  }

  void price() {
    for (index_type r = 0; r < a_.rows(); ++r) {
      double largest = 0;
      for (const T x : a_.row_values(r))
        largest = std::max(largest, std::abs(static_cast<double>(x)));
      row_log_[at(r)] = largest == 0 ? 0 : portable_log(largest);
    }
    for (index_type r = 0; r < a_.rows(); ++r) {
      each_entry(r, [this](index_type c, double cost) {
        column_price_[at(c)] = std::min(column_price_[at(c)], cost);
      });
    }
    for (index_type r = 0; r < a_.rows(); ++r) {
      double lowest = unreachable;
      each_entry(r, [&](index_type c, double cost) {
        lowest = std::min(lowest, cost - column_price_[at(c)]);
      });
      row_price_[at(r)] = lowest == unreachable ? 0 : lowest;
    }
  }

  void choose(index_type row, index_type column) {
    found_.column_of_row[at(row)] = column;
    row_of_column_[at(column)] = row;
  }

  // Most rows find a free column that costs nothing.
  void match_what_is_free() {
    for (index_type r = 0; r < a_.rows(); ++r) {
      each_entry(r, [&](index_type c, double cost) {
        if (found_.column_of_row[at(r)] < 0 && row_of_column_[at(c)] < 0
            && cost - row_price_[at(r)] - column_price_[at(c)] <= 0) {
          choose(r, c);
          ++found_.matched;
        }
      });
    }
  }

  // Dijkstra's search from `source` to the nearest column without a row, if there is one.
  void augment(index_type source) {
    using place = std::pair<double, index_type>; // equal distances: the lower column first
    std::priority_queue<place, std::vector<place>, std::greater<>> heap;
    settled_columns_.clear();
    touched_columns_.clear();
    index_type row = source;
    double so_far = 0;
    index_type end = -1;
    while (end < 0) {
      each_entry(row, [&](index_type c, double cost) {
        if (settled_[at(c)])
          return;
        const double left = std::max(0.0, cost - row_price_[at(row)] - column_price_[at(c)]);
        if (so_far + left < distance_[at(c)]) {
          if (distance_[at(c)] == unreachable)
            touched_columns_.push_back(c);
          distance_[at(c)] = so_far + left;
          reached_from_[at(c)] = row;
          heap.push({so_far + left, c});
        }
      });
      while (!heap.empty() && settled_[at(heap.top().second)])
        heap.pop();
      if (heap.empty())
        break;
      const auto [nearest, column] = heap.top();
      heap.pop();
      so_far = nearest;
      if (row_of_column_[at(column)] < 0) {
        end = column;
      } else {
        settled_[at(column)] = true;
        settled_columns_.push_back(column);
        row = row_of_column_[at(column)];
      }
    }
    if (end >= 0) {
      reprice(source, so_far);
      flip(source, end);
    }
    for (const index_type c : touched_columns_) {
      distance_[at(c)] = unreachable;
      settled_[at(c)] = false;
    }
  }

  void reprice(index_type source, double length) {
    row_price_[at(source)] += length;
    for (const index_type c : settled_columns_) {
      const double nearer = length - distance_[at(c)];
      column_price_[at(c)] -= nearer;
      row_price_[at(row_of_column_[at(c)])] += nearer;
    }
  }

  void flip(index_type source, index_type column) {
    for (index_type row = -1; row != source;) {
      row = reached_from_[at(column)];
      const index_type before = found_.column_of_row[at(row)];
      choose(row, column);
      column = before;
    }
    ++found_.matched;
  }

  const csr_matrix<T>& a_;
  std::size_t n_;
  std::vector<double> row_log_; // of the largest entry
  std::vector<double> row_price_;
  std::vector<double> column_price_;
  std::vector<index_type> row_of_column_;
  std::vector<double> distance_;
  std::vector<index_type> reached_from_;
  std::vector<char> settled_;
  std::vector<index_type> settled_columns_;
  std::vector<index_type> touched_columns_;
  maximum_transversal found_;
};

} // namespace

template <class T>
maximum_transversal find_maximum_transversal(const csr_matrix<T>& a) {
  return search<T>{a}.run();
}

template maximum_transversal find_maximum_transversal(const csr_matrix<float>&);
template maximum_transversal find_maximum_transversal(const csr_matrix<double>&);

} // namespace basal::solver::detail
