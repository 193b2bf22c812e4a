#pragma once

#include <basal/solver/csr_matrix.hpp>
#include <basal/solver/triplets.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

/// The families of matrices on which iterations without a change of rows fail, by generator. The
/// same seed gives the same matrix everywhere.
namespace families {

using basal::solver::csr_matrix;
using basal::solver::index_type;
using basal::solver::triplets;

namespace detail {

// Not from <random>'s distributions, whose numbers differ between libraries.
class draws {
public:
  explicit draws(unsigned seed) : random_(seed) {
  }

  /// In [-1, 1).
  double number() {
    return static_cast<double>(random_()) / 2147483648.0 - 1;
  }

  /// In [0, n).
  index_type below(index_type n) {
    return static_cast<index_type>(random_() % static_cast<unsigned>(n));
  }

  std::vector<index_type> permutation(index_type n) {
    std::vector<index_type> p(static_cast<std::size_t>(n));
    std::iota(p.begin(), p.end(), 0);
    for (auto i = n - 1; i > 0; --i)
      std::swap(p[static_cast<std::size_t>(i)], p[static_cast<std::size_t>(below(i + 1))]);
    return p;
  }

private:
  std::mt19937 random_;
};

} // namespace detail

/// A = -A': zeros on the diagonal, imaginary eigenvalues. `n` is even, or A would be singular.
inline csr_matrix<double> skew(index_type n, unsigned seed) {
  detail::draws draw{seed};
  triplets<double> t{n, n};
  const auto couple = [&](index_type i, index_type j, double v) {
    t.add(i, j, v);
    t.add(j, i, -v);
  };
  for (index_type i = 0; i + 1 < n; ++i)
    couple(i, i + 1, 1.5 + draw.number());
  for (index_type k = 0; k < 2 * n; ++k) {
    const auto i = draw.below(n);
    const auto j = draw.below(n);
    if (i != j)
      couple(i, j, draw.number());
  }
  return std::move(t).build();
}

/// Rows that dominate by half, of magnitudes from 10^-3 to 10^3, in another order, such that
/// nothing is left on the diagonal.
inline csr_matrix<double> permuted_without_diagonal(index_type n, unsigned seed) {
  detail::draws draw{seed};
  auto place = draw.permutation(n);
  for (index_type i = 0; i < n; ++i) // nobody stays where it was
    if (place[static_cast<std::size_t>(i)] == i)
      std::swap(place[static_cast<std::size_t>(i)], place[static_cast<std::size_t>((i + 1) % n)]);
  triplets<double> t{n, n};
  for (index_type i = 0; i < n; ++i) {
    const auto row = place[static_cast<std::size_t>(i)];
    const double scale = std::pow(10.0, 3 * draw.number());
    double sum = 0;
    for (int k = 0; k < 5; ++k) {
      const auto j = draw.below(n);
      if (j == i || j == row)
        continue;
      const double v = draw.number();
      sum += std::abs(v);
      t.add(row, j, scale * v);
    }
    t.add(row, i, scale * (1 + 1.5 * sum));
  }
  return std::move(t).build();
}

/// Random rows with a full diagonal that dominates nothing; the last one is a combination of five
/// others, up to 10^-3 to 10^-7.
inline csr_matrix<double> nearly_singular(index_type n, unsigned seed) {
  detail::draws draw{seed};
  triplets<double> t{n, n};
  std::vector<double> last(static_cast<std::size_t>(n), 0);
  for (index_type i = 0; i + 1 < n; ++i) {
    const double weight = i % (n / 5) == 0 ? draw.number() : 0;
    const auto add = [&](index_type j, double v) {
      t.add(i, j, v);
      last[static_cast<std::size_t>(j)] += weight * v;
    };
    add(i, draw.number() / 2);
    for (int k = 0; k < 4; ++k)
      add(draw.below(n), draw.number());
  }
  const double apart = std::pow(10.0, -3 - static_cast<double>(seed % 5));
  for (index_type j = 0; j < n; ++j)
    t.add(n - 1, j, last[static_cast<std::size_t>(j)] + apart * draw.number());
  return std::move(t).build();
}

} // namespace families
