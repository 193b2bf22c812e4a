#pragma once

#include <basal/solver/csr_matrix.hpp>
#include <basal/solver/triplets.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

/// The families of matrices that occur in practice, by generator.
namespace families {

using basal::solver::csr_matrix;
using basal::solver::index_type;
using basal::solver::triplets;

inline std::size_t at(index_type i) {
  return static_cast<std::size_t>(i);
}

template <class T>
csr_matrix<T> poisson_2d(index_type side) {
  triplets<T> t{side * side, side * side};
  for (index_type i = 0; i < side; ++i) {
    for (index_type j = 0; j < side; ++j) {
      const index_type r = i * side + j;
      t.add(r, r, 4);
      if (i > 0)
        t.add(r, r - side, -1);
      if (i + 1 < side)
        t.add(r, r + side, -1);
      if (j > 0)
        t.add(r, r - 1, -1);
      if (j + 1 < side)
        t.add(r, r + 1, -1);
    }
  }
  return std::move(t).build();
}

template <class T>
csr_matrix<T> poisson_3d(index_type side) {
  const index_type n = side * side * side;
  triplets<T> t{n, n};
  const auto couple = [&](index_type r, bool exists, index_type distance) {
    if (exists)
      t.add(r, r + distance, -1);
  };
  for (index_type r = 0; r < n; ++r) {
    const index_type x = r % side;
    const index_type y = r / side % side;
    const index_type z = r / side / side;
    t.add(r, r, 6);
    couple(r, x > 0, -1);
    couple(r, x + 1 < side, 1);
    couple(r, y > 0, -side);
    couple(r, y + 1 < side, side);
    couple(r, z > 0, -side * side);
    couple(r, z + 1 < side, side * side);
  }
  return std::move(t).build();
}

/// Convection-diffusion on a grid, upwind; `peclet` above 0 makes it non-symmetric.
template <class T>
csr_matrix<T> convection(index_type side, T peclet) {
  triplets<T> t{side * side, side * side};
  for (index_type i = 0; i < side; ++i) {
    for (index_type j = 0; j < side; ++j) {
      const index_type r = i * side + j;
      t.add(r, r, 4 + 2 * peclet);
      if (i > 0)
        t.add(r, r - side, -1 - peclet);
      if (i + 1 < side)
        t.add(r, r + side, -1);
      if (j > 0)
        t.add(r, r - 1, -1 - peclet);
      if (j + 1 < side)
        t.add(r, r + 1, -1);
    }
  }
  return std::move(t).build();
}

/// Links of a graph whose degrees follow a power law, up to hundreds; some have none.
template <class T>
csr_matrix<T> web_links(index_type n, unsigned seed) {
  std::mt19937 random{seed};
  std::uniform_real_distribution<double> uniform{0.0005, 1};
  triplets<T> t{n, n};
  for (index_type r = 0; r < n; ++r) {
    if (r % 17 == 3)
      continue; // no link leads on
    const auto degree = static_cast<index_type>(2 / std::sqrt(uniform(random)));
    for (index_type k = 0; k < degree; ++k) {
      const auto target = static_cast<index_type>(n * std::pow(uniform(random), 2.5));
      t.add(r, std::min(target, n - 1), 1);
    }
  }
  return std::move(t).build();
}

/// Laplacian of a random graph plus `shift` on the diagonal: nearly singular for a small one.
template <class T>
csr_matrix<T> laplacian(index_type n, unsigned seed, T shift) {
  std::mt19937 random{seed};
  std::uniform_int_distribution<index_type> node{0, n - 1};
  std::uniform_real_distribution<T> weight{T(0.1), 2};
  triplets<T> t{n, n};
  const auto connect = [&](index_type i, index_type j) {
    const T w = weight(random);
    t.add(i, j, -w);
    t.add(j, i, -w);
    t.add(i, i, w);
    t.add(j, j, w);
  };
  for (index_type i = 0; i < n; ++i) {
    t.add(i, i, shift);
    if (i > 0)
      connect(i, i - 1);
    for (int k = 0; k < 2; ++k) {
      if (const index_type j = node(random); j != i)
        connect(i, j);
    }
  }
  return std::move(t).build();
}

/// Random entries, and a diagonal such that each row's others add up to `ratio` times it.
template <class T>
csr_matrix<T> dominant(index_type n, unsigned seed, double ratio, bool symmetric, int per_row = 8) {
  std::mt19937 random{seed};
  std::uniform_int_distribution<index_type> column{0, n - 1};
  std::uniform_real_distribution<T> value{-1, 1};
  std::vector<std::vector<std::pair<index_type, T>>> rows(at(n));
  for (index_type r = 0; r < n; ++r) {
    for (int k = 0; k < (symmetric ? per_row / 2 : per_row); ++k) {
      const index_type c = column(random);
      if (c == r)
        continue;
      const T v = value(random);
      rows[at(r)].emplace_back(c, v);
      if (symmetric)
        rows[at(c)].emplace_back(r, v);
    }
  }
  triplets<T> t{n, n};
  for (index_type r = 0; r < n; ++r) {
    double sum = 0;
    for (const auto& [c, v] : rows[at(r)]) {
      t.add(r, c, v);
      sum += std::abs(static_cast<double>(v));
    }
    t.add(r, r, static_cast<T>(sum == 0 ? 1 : sum / ratio));
  }
  return std::move(t).build();
}

/// Rows of every length from 0 to beyond 200, rectangular.
template <class T>
csr_matrix<T> ragged(index_type rows, index_type columns, unsigned seed) {
  std::mt19937 random{seed};
  std::uniform_int_distribution<index_type> column{0, columns - 1};
  std::uniform_real_distribution<T> value{-1, 1};
  triplets<T> t{rows, columns};
  for (index_type r = 0; r < rows; ++r) {
    const index_type length = r % 5 == 0 ? r % 211 : r % 13;
    for (index_type k = 0; k < length; ++k)
      t.add(r, column(random), value(random));
  }
  return std::move(t).build();
}

template <class T>
std::vector<T> numbers(std::size_t size, unsigned seed) {
  std::mt19937 random{seed};
  std::uniform_real_distribution<T> value{-1, 1};
  std::vector<T> x(size);
  for (auto& entry : x)
    entry = value(random);
  return x;
}

} // namespace families
