#include <basal/solver/matrix_profile.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <basal/solver/errors.hpp>
#include <basal/solver/kernels/product.hpp>
#include <basal/solver/kernels/vector.hpp>
#include <basal/solver/random.hpp>

namespace basal::solver {

namespace {

constexpr int power_steps = 10;
constexpr double infinite = std::numeric_limits<double>::infinity();

std::size_t at(index_type i) {
  return static_cast<std::size_t>(i);
}

template <class T>
bool is_symmetric(const csr_matrix<T>& a) {
  const auto t = a.transposed();
  if (!std::ranges::equal(a.row_starts(), t.row_starts())
      || !std::ranges::equal(a.column_indices(), t.column_indices()))
    return false;
  constexpr T tolerance = 16 * std::numeric_limits<T>::epsilon();
  return std::ranges::equal(a.values(), t.values(), [](T x, T y) {
    return std::abs(x - y) <= tolerance * std::max(std::abs(x), std::abs(y));
  });
}

template <class T>
double power_iteration(const csr_matrix<T>& a, const std::vector<T>& diagonal) {
  const auto n = diagonal.size();
  std::vector<T> v(n);
  std::vector<T> next(n);
  walk_numbers numbers{0, 0};
  for (auto& x : v)
    x = static_cast<T>(numbers.next() - 0.5);
  double growth = 0;
  for (int step = 0; step < power_steps; ++step) {
    const double norm = std::sqrt(kernels::dot<T>(v, v, summation::portable));
    if (norm == 0)
      return 0;
    for (auto& x : v)
      x = static_cast<T>(x / norm);
    kernels::multiply<T>(a, v, next, summation::portable);
    for (std::size_t i = 0; i < n; ++i)
      next[i] = v[i] - next[i] / diagonal[i];
    growth = std::sqrt(kernels::dot<T>(next, next, summation::portable));
    if (!std::isfinite(growth))
      return infinite;
    v.swap(next);
  }
  return growth;
}

} // namespace

template <class T>
matrix_profile measure(const csr_matrix<T>& a) {
  if (!a.is_square())
    throw error{errc::dimension_mismatch, "a linear system needs a square matrix, not "
                                            + std::to_string(a.rows()) + " x "
                                            + std::to_string(a.columns())};
  const auto diagonal = a.diagonal();
  matrix_profile p;
  p.full_diagonal = std::ranges::all_of(diagonal, [](T d) { return std::isnormal(d); });
  p.positive_diagonal = std::ranges::all_of(diagonal, [](T d) { return d > 0; });
  p.symmetric = is_symmetric(a);
  if (!p.full_diagonal) {
    p.row_ratio = p.column_ratio = p.spectral_radius = infinite;
    return p;
  }
  p.opposite_signs = true;
  std::vector<double> columns(diagonal.size(), 0);
  for (index_type r = 0; r < a.rows(); ++r) {
    const auto cols = a.row_columns(r);
    const auto vals = a.row_values(r);
    double sum = 0;
    for (std::size_t k = 0; k < cols.size(); ++k) {
      if (cols[k] == r)
        continue;
      const double size = std::abs(static_cast<double>(vals[k]));
      sum += size;
      columns[at(cols[k])] += size;
      p.opposite_signs
        = p.opposite_signs && (vals[k] == 0 || (vals[k] > 0) != (diagonal[at(r)] > 0));
    }
    p.row_ratio = std::max(p.row_ratio, sum / std::abs(static_cast<double>(diagonal[at(r)])));
  }
  for (std::size_t c = 0; c < columns.size(); ++c)
    p.column_ratio
      = std::max(p.column_ratio, columns[c] / std::abs(static_cast<double>(diagonal[c])));
  p.spectral_radius = std::min({power_iteration(a, diagonal), p.row_ratio, p.column_ratio});
  return p;
}

template matrix_profile measure(const csr_matrix<float>&);
template matrix_profile measure(const csr_matrix<double>&);

} // namespace basal::solver
