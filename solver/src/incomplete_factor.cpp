#include <basal/solver/detail/incomplete_factor.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <basal/solver/detail/kernels/triangular.hpp>
#include <basal/solver/errors.hpp>

#include "at.hpp"

namespace basal::solver {

namespace {

using detail::at;

template <class T>
void check_square(const csr_matrix<T>& a) {
  if (!a.is_square())
    throw error{errc::dimension_mismatch, "only a square matrix can be factorised, not "
                                            + std::to_string(a.rows()) + " x "
                                            + std::to_string(a.columns())};
}

[[noreturn]] void bad_pivot(index_type row, const char* what) {
  throw error{errc::zero_diagonal, "row " + std::to_string(row) + ": " + what};
}

template <class T>
bool usable_pivot(T pivot) {
  return std::isfinite(pivot) && std::isfinite(T{1} / pivot);
}

template <class Arrays>
auto view(const Arrays& a) {
  using value = typename decltype(a.values)::value_type;
  return kernels::triangle<value>{a.row_starts, a.columns, a.values, a.inverse_diagonal};
}

} // namespace

// Row by row: l_ij = (a_ij - sum of l_ik l_jk for k < j) / l_jj, where only the pattern of A is
// kept. The sum is a merge of two sorted rows.
template <class T>
bool incomplete_factor<T>::try_cholesky(const csr_matrix<T>& a, double shift) {
  auto& l = lower_;
  l = {};
  l.inverse_diagonal.reserve(at(a.rows()));
  const auto partial_sum
    = [&l](std::size_t i, std::size_t i_end, std::size_t j, std::size_t j_end) {
        T sum{0};
        while (i < i_end && j < j_end) {
          if (l.columns[i] < l.columns[j])
            ++i;
          else if (l.columns[i] > l.columns[j])
            ++j;
          else
            sum += l.values[i++] * l.values[j++];
        }
        return sum;
      };
  for (index_type r = 0; r < a.rows(); ++r) {
    const auto columns = a.row_columns(r);
    const auto values = a.row_values(r);
    const auto start = l.columns.size();
    std::size_t k = 0;
    for (; k < columns.size() && columns[k] < r; ++k) {
      const auto j = at(columns[k]);
      const T sum
        = partial_sum(start, l.columns.size(), at(l.row_starts[j]), at(l.row_starts[j + 1]));
      l.columns.push_back(columns[k]);
      l.values.push_back((values[k] - sum) * l.inverse_diagonal[j]);
    }
    if (k == columns.size() || columns[k] != r || !(values[k] > 0))
      bad_pivot(r, "the diagonal element is not positive, so the matrix is not positive definite");
    T squared = values[k] * static_cast<T>(1 + shift);
    for (std::size_t i = start; i < l.values.size(); ++i)
      squared -= l.values[i] * l.values[i];
    // A pivot that almost vanished makes the factor worse than no factor.
    if (!(squared > values[k] * T(1e-3)) || !usable_pivot(squared))
      return false;
    l.inverse_diagonal.push_back(1 / std::sqrt(squared));
    l.row_starts.push_back(static_cast<index_type>(l.columns.size()));
  }
  return true;
}

template <class T>
incomplete_factor<T> incomplete_factor<T>::cholesky(const csr_matrix<T>& a) {
  check_square(a);
  incomplete_factor f;
  for (double shift = 0; !f.try_cholesky(a, shift); f.shift_ = shift) {
    shift = shift == 0 ? 1e-3 : 2 * shift;
    if (shift > 1e6) // then the diagonal dominates beyond doubt, unless it overflows
      throw error{errc::not_finite, "incomplete Cholesky: the values of the matrix are so far "
                                    "apart that pivots overflow; scale it"};
  }
  // The upper triangle is the transpose, rows in descending order of columns, each scaled.
  auto& l = f.lower_;
  auto& u = f.upper_;
  const auto n = at(a.rows());
  u.row_starts.assign(n + 1, 0);
  for (const index_type c : l.columns)
    ++u.row_starts[at(c) + 1];
  for (std::size_t i = 0; i < n; ++i)
    u.row_starts[i + 1] += u.row_starts[i];
  u.columns.resize(l.columns.size());
  u.values.resize(l.values.size());
  u.inverse_diagonal = l.inverse_diagonal;
  auto next = u.row_starts;
  for (std::size_t r = n; r-- > 0;) {
    for (auto k = at(l.row_starts[r]); k < at(l.row_starts[r + 1]); ++k) {
      const auto to = at(next[at(l.columns[k])]++);
      u.columns[to] = static_cast<index_type>(r);
      u.values[to] = l.values[k] * l.inverse_diagonal[at(l.columns[k])];
    }
  }
  for (std::size_t r = 0; r < n; ++r) {
    for (auto k = at(l.row_starts[r]); k < at(l.row_starts[r + 1]); ++k)
      l.values[k] *= l.inverse_diagonal[r];
  }
  return f;
}

// The IKJ variant: row i of A minus multiples of the rows of U above it, within its pattern.
template <class T>
incomplete_factor<T> incomplete_factor<T>::lu(const csr_matrix<T>& a) {
  check_square(a);
  const auto n = at(a.rows());
  std::vector<T> values(a.values().begin(), a.values().end());
  std::vector<index_type> diagonal(n);
  std::vector<index_type> place(n, -1); // index of a column's entry in the current row
  const auto columns = a.column_indices();
  const auto starts = a.row_starts();
  incomplete_factor f;
  auto& l = f.lower_;
  auto& u = f.upper_;
  for (std::size_t r = 0; r < n; ++r) {
    const auto begin = at(starts[r]);
    const auto end = at(starts[r + 1]);
    for (auto k = begin; k < end; ++k)
      place[at(columns[k])] = static_cast<index_type>(k);
    auto k = begin;
    for (; k < end && at(columns[k]) < r; ++k) {
      const auto above = at(columns[k]);
      values[k] *= u.inverse_diagonal[above];
      for (auto m = at(diagonal[above]) + 1; m < at(starts[above + 1]); ++m) {
        if (const index_type to = place[at(columns[m])]; to >= 0)
          values[at(to)] -= values[k] * values[m];
      }
      l.columns.push_back(columns[k]);
      l.values.push_back(values[k]);
    }
    if (k == end || at(columns[k]) != r)
      bad_pivot(static_cast<index_type>(r), "no diagonal element is stored; reorder the rows");
    if (!usable_pivot(values[k]))
      bad_pivot(static_cast<index_type>(r),
                "ILU(0) meets a pivot of 0; use the Jacobi preconditioner");
    diagonal[r] = static_cast<index_type>(k);
    u.inverse_diagonal.push_back(1 / values[k]);
    for (auto m = end; m-- > k + 1;) {
      u.columns.push_back(columns[m]);
      u.values.push_back(values[m] * u.inverse_diagonal[r]);
    }
    l.row_starts.push_back(static_cast<index_type>(l.columns.size()));
    u.row_starts.push_back(static_cast<index_type>(u.columns.size()));
    for (auto m = begin; m < end; ++m)
      place[at(columns[m])] = -1;
  }
  return f;
}

template <class T>
void incomplete_factor<T>::apply(std::span<const T> r, std::span<T> z,
                                 summation order) const noexcept {
  kernels::solve_lower(view(lower_), r, z, order);
  kernels::solve_upper(view(upper_), z, order);
}

template class incomplete_factor<float>;
template class incomplete_factor<double>;

} // namespace basal::solver
