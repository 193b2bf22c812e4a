#include <basal/solver/matrix_profile.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <basal/solver/detail/kernels/product.hpp>
#include <basal/solver/detail/kernels/vector.hpp>
#include <basal/solver/detail/random.hpp>
#include <basal/solver/errors.hpp>

#include "at.hpp"
#include "portable.hpp"

namespace basal::solver {

namespace {

using detail::at;

constexpr int power_steps = 10;
constexpr double infinite = std::numeric_limits<double>::infinity();

template <class T>
bool is_symmetric(const csr_matrix<T>& a) {
  const auto t = a.transposed();
  if (!detail::equal(a.row_starts(), t.row_starts())
      || !detail::equal(a.column_indices(), t.column_indices()))
    return false;
  constexpr T tolerance = 16 * std::numeric_limits<T>::epsilon();
  return detail::equal(a.values(), t.values(), [](T x, T y) {
    return std::abs(x - y) <= tolerance * std::max(std::abs(x), std::abs(y));
  });
}

struct radius {
  double low;
  double estimate;
};

// By the growth of a random vector in the norm sqrt(sum of |a_ii| v_i^2). For a symmetric matrix
// with a positive diagonal I - D^-1 A is self-adjoint in it, so that no growth exceeds the radius,
// and growths rise. Where the spectrum is dense towards its end, as that of a grid or a graph, they
// are short of the radius by about c / steps, which two of them tell.
template <class T>
radius power_iteration(const csr_matrix<T>& a, const std::vector<T>& diagonal) {
  const auto n = diagonal.size();
  std::vector<T> v(n);
  std::vector<T> next(n);
  walk_numbers numbers{0, 0};
  for (auto& x : v)
    x = static_cast<T>(numbers.next() - 0.5);
  const auto norm_of = [&diagonal](const std::vector<T>& of) {
    double sum = 0;
    for (std::size_t i = 0; i < of.size(); ++i)
      sum += std::abs(static_cast<double>(diagonal[i])) * static_cast<double>(of[i])
             * static_cast<double>(of[i]);
    return std::sqrt(sum);
  };
  double growth = 0;
  double growth_before = 0;
  double norm = norm_of(v);
  for (int step = 0; step < power_steps; ++step) {
    if (norm == 0)
      return {0, 0};
    for (auto& x : v)
      x = static_cast<T>(x / norm);
    kernels::multiply<T>(a, v, next, summation::portable);
    for (std::size_t i = 0; i < n; ++i)
      next[i] = v[i] - next[i] / diagonal[i];
    norm = norm_of(next);
    growth_before = growth;
    growth = norm;
    if (!std::isfinite(growth))
      return {infinite, infinite};
    v.swap(next);
  }
  return {growth, growth + power_steps * std::max(0.0, growth - growth_before)};
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
  p.full_diagonal = detail::all_of(diagonal, [](T d) { return std::isnormal(d); });
  p.positive_diagonal = detail::all_of(diagonal, [](T d) { return d > 0; });
  p.symmetric = is_symmetric(a);
  if (!p.full_diagonal) {
    p.row_ratio = p.column_ratio = infinite;
    p.spectral_radius = p.spectral_radius_low = p.spectral_radius_high = infinite;
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
  const auto measured = power_iteration(a, diagonal);
  p.spectral_radius_high = std::min(p.row_ratio, p.column_ratio);
  p.spectral_radius_low = std::min(measured.low, p.spectral_radius_high);
  p.spectral_radius = std::min(measured.estimate, p.spectral_radius_high);
  return p;
}

template matrix_profile measure(const csr_matrix<float>&);
template matrix_profile measure(const csr_matrix<double>&);

} // namespace basal::solver
