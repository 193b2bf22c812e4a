#include "factor/complete_lu.hpp"

#include <basal/solver/build_config.hpp>
#include <basal/solver/errors.hpp>

#if BASAL_SOLVER_WITH_DIRECT

// Eigen under a name of our own. Its templates end up in this archive; a program that uses Eigen,
// too, with other instruction sets and so other alignments must not be linked with these.
#  define Eigen basal_solver_eigen
#  define EIGEN_DONT_PARALLELIZE
#  include <Eigen/SparseLU>

#  include <algorithm>
#  include <cmath>
#  include <string>
#  include <utility>
#  include <vector>

#  include "at.hpp"
#  include "factor/symbolic_fill.hpp"
#  include "number_text.hpp"

namespace basal::solver::detail {

namespace {

using columns_matrix = Eigen::SparseMatrix<double, Eigen::ColMajor, index_type>;

// A pivot this much smaller than the largest of its column gives way to that one.
constexpr double diagonal_share = 0.1;

// Takes columns in the order that they have.
struct as_they_are {
  using PermutationType = Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, index_type>;

  template <class Matrix>
  void operator()(const Matrix& m, PermutationType& p) const {
    p.resize(m.cols());
    p.setIdentity();
  }
};

// The library's class keeps its factors to itself and those who derive from it.
class open_lu : public Eigen::SparseLU<columns_matrix, as_they_are> {
public:
  const SCMatrix& supernodes() const noexcept {
    return m_Lstore;
  }

  const auto& above_supernodes() const noexcept {
    return m_Ustore;
  }
};

std::vector<index_type> minimum_degree(const csr_matrix<double>& a) {
  const Eigen::Map<const Eigen::SparseMatrix<double, Eigen::RowMajor, index_type>> rows{
    a.rows(),         a.columns(), a.nonzeros(), a.row_starts().data(), a.column_indices().data(),
    a.values().data()};
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, index_type> order;
  Eigen::AMDOrdering<index_type>{}(columns_matrix{rows}, order);
  const auto* first = order.indices().data();
  return {first, first + a.rows()};
}

// Rows and columns of `a` in one order.
columns_matrix reordered(const csr_matrix<double>& a, const std::vector<index_type>& order) {
  std::vector<index_type> place_of(order.size());
  for (std::size_t k = 0; k < order.size(); ++k)
    place_of[at(order[k])] = static_cast<index_type>(k);
  std::vector<Eigen::Triplet<double, index_type>> entries;
  entries.reserve(at(a.nonzeros()));
  for (index_type r = 0; r < a.rows(); ++r) {
    const auto columns = a.row_columns(r);
    const auto values = a.row_values(r);
    for (std::size_t k = 0; k < columns.size(); ++k)
      entries.emplace_back(place_of[at(r)], place_of[at(columns[k])], values[k]);
  }
  columns_matrix m{a.rows(), a.columns()};
  m.setFromTriplets(entries.begin(), entries.end());
  return m;
}

struct entry {
  index_type row;
  index_type column;
  double value;
};

// Rows in the order that the triangular kernels want, from entries of any order.
template <class T>
triangle_arrays<T> by_rows(std::vector<entry> entries, std::size_t n, bool descending) {
  std::sort(entries.begin(), entries.end(), [descending](const entry& x, const entry& y) {
    if (x.row != y.row)
      return x.row < y.row;
    return descending ? x.column > y.column : x.column < y.column;
  });
  triangle_arrays<T> t;
  t.columns.reserve(entries.size());
  t.values.reserve(entries.size());
  auto next = entries.begin();
  for (std::size_t r = 0; r < n; ++r) {
    for (; next != entries.end() && at(next->row) == r; ++next) {
      t.columns.push_back(next->column);
      t.values.push_back(static_cast<T>(next->value));
    }
    t.row_starts.push_back(static_cast<index_type>(t.columns.size()));
  }
  return t;
}

std::string mebibytes(std::size_t bytes) {
  return number_text(static_cast<double>(bytes) / (1 << 20)) + " MiB";
}

[[noreturn]] void too_large(std::size_t needed, const char* what, std::size_t limit) {
  throw error{errc::too_large, "a complete factor takes " + std::string{what} + mebibytes(needed)
                                 + ", above solve_options::factor_bytes of " + mebibytes(limit)};
}

} // namespace

template <class T>
ordered_factor<T> complete_lu(const matched_matrix& a, std::size_t bytes) {
  const auto n = at(a.matrix.rows());
  if (n == 0)
    return {};
  const auto order = minimum_degree(a.matrix);
  const auto most = bytes / bytes_per_complete_entry;
  const auto half = symbolic_fill(a.matrix, order, most / 2);
  if (2 * half + n > most)
    too_large((2 * half + n) * bytes_per_complete_entry, "at least ", bytes);
  open_lu lu;
  lu.isSymmetric(true);
  lu.setPivotThreshold(diagonal_share);
  lu.compute(reordered(a.matrix, order));
  if (lu.info() != Eigen::Success)
    throw error{errc::zero_diagonal, "a complete factor meets a pivot of 0: the matrix is "
                                     "singular, as far as rounding can tell"};
  // P A Q = L U, P and Q as the library numbers them: row i went to place rows(i).
  const auto& rows = lu.rowsPermutation().indices();
  const auto& columns = lu.colsPermutation().indices();
  std::vector<entry> lower;
  std::vector<entry> upper;
  std::vector<double> pivots(n, 0);
  const auto to_upper = [&](Eigen::Index row, Eigen::Index column, double value) {
    if (row == column)
      pivots[at(row)] = value;
    else if (value != 0)
      upper.push_back({static_cast<index_type>(row), static_cast<index_type>(column), value});
  };
  for (Eigen::Index c = 0; c < a.matrix.columns(); ++c) {
    for (open_lu::SCMatrix::InnerIterator e{lu.supernodes(), c}; e; ++e) {
      if (e.row() <= c)
        to_upper(e.row(), c, e.value());
      else if (e.value() != 0)
        lower.push_back({static_cast<index_type>(e.row()), static_cast<index_type>(c), e.value()});
    }
    using above = std::remove_cvref_t<decltype(lu.above_supernodes())>;
    for (typename above::InnerIterator e{lu.above_supernodes(), c}; e; ++e)
      to_upper(e.row(), c, e.value());
  }
  if ((lower.size() + upper.size() + n) > most)
    too_large((lower.size() + upper.size() + n) * bytes_per_complete_entry, "", bytes);
  for (auto& e : upper)
    e.value /= pivots[at(e.row)];
  ordered_factor<T> f;
  f.lower = by_rows<T>(std::move(lower), n, false);
  f.upper = by_rows<T>(std::move(upper), n, true);
  f.row_order.resize(n);
  f.row_scale.resize(n);
  f.column_order.resize(n);
  f.column_scale.resize(n);
  for (std::size_t k = 0; k < n; ++k) {
    f.upper.inverse_diagonal.push_back(static_cast<T>(1 / pivots[k]));
    const auto row_place = at(rows[static_cast<Eigen::Index>(k)]);
    f.row_order[row_place] = a.row_order[at(order[k])];
    f.row_scale[row_place] = static_cast<T>(a.row_scale[at(order[k])]);
    const auto column_place = at(columns[static_cast<Eigen::Index>(k)]);
    f.column_order[column_place] = order[k];
    f.column_scale[column_place] = static_cast<T>(a.column_scale[at(order[k])]);
  }
  return f;
}

template ordered_factor<float> complete_lu(const matched_matrix&, std::size_t);
template ordered_factor<double> complete_lu(const matched_matrix&, std::size_t);

} // namespace basal::solver::detail

#else

namespace basal::solver::detail {

template <class T>
ordered_factor<T> complete_lu(const matched_matrix&, std::size_t) {
  throw error{errc::bad_option,
              "this library was built without a direct method, which would be the remedy: build it "
              "where Eigen 3.4 is (Debian: apt install libeigen3-dev)"};
}

template ordered_factor<float> complete_lu(const matched_matrix&, std::size_t);
template ordered_factor<double> complete_lu(const matched_matrix&, std::size_t);

} // namespace basal::solver::detail

#endif
