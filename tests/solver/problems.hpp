#pragma once

#include <basal/solver/csr_matrix.hpp>
#include <basal/solver/triplets.hpp>

#include <cmath>
#include <memory>
#include <random>
#include <vector>

/// Systems whose solutions are known.
namespace problems {

using basal::solver::csr_matrix;
using basal::solver::index_type;

using matrix_ptr = std::shared_ptr<const csr_matrix<double>>;

/// Random rows of about `per_row` entries besides the diagonal, whose absolute values add up
/// to `radius` times the diagonal: so its Jacobi iteration converges at least that fast.
inline matrix_ptr dominant(index_type size, unsigned seed, double radius = 0.5, int per_row = 7) {
  std::mt19937 random{seed};
  std::uniform_int_distribution<index_type> column{0, size - 1};
  std::uniform_real_distribution<double> value{-1, 1};
  basal::solver::triplets<double> entries{size, size};
  for (index_type i = 0; i < size; ++i) {
    double sum = 0;
    std::vector<std::pair<index_type, double>> row;
    for (int k = 0; k < per_row; ++k) {
      auto j = column(random);
      if (j == i)
        continue;
      row.emplace_back(j, value(random));
      sum += std::abs(row.back().second);
    }
    for (auto [j, v] : row)
      entries.add(i, j, v);
    entries.add(i, i, sum == 0 ? 1.0 : sum / radius);
  }
  return std::make_shared<const csr_matrix<double>>(std::move(entries).build());
}

/// Numbers between -1 and 1.
inline std::vector<double> numbers(index_type size, unsigned seed) {
  std::mt19937 random{seed};
  std::uniform_real_distribution<double> value{-1, 1};
  std::vector<double> x(static_cast<std::size_t>(size));
  for (auto& entry : x)
    entry = value(random);
  return x;
}

inline std::vector<double> product(const csr_matrix<double>& a, const std::vector<double>& x) {
  std::vector<double> y;
  for (index_type i = 0; i < a.rows(); ++i) {
    double sum = 0;
    auto columns = a.row_columns(i);
    auto values = a.row_values(i);
    for (std::size_t k = 0; k < columns.size(); ++k)
      sum += values[k] * x[static_cast<std::size_t>(columns[k])];
    y.push_back(sum);
  }
  return y;
}

/// |b - A x| / |b|
inline double residual(const csr_matrix<double>& a, const std::vector<double>& x,
                       const std::vector<double>& b) {
  auto y = product(a, x);
  double above = 0, below = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    above += (b[i] - y[i]) * (b[i] - y[i]);
    below += b[i] * b[i];
  }
  return std::sqrt(above / below);
}

} // namespace problems
