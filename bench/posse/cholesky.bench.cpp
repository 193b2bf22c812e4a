// Cholesky decomposition by recursion on quarters (as in Cilk's example of that
// name): the forks are inside of the triangular solves and the products, down to
// blocks of 32.

#include "bench/posse/fork.hpp"

#include <cmath>
#include <memory>
#include <vector>

namespace {

using namespace basal;

constexpr std::size_t leaf = 32;

// A square part of a matrix in rows of `stride`.
struct part {
  double* at;
  std::size_t n;
  std::size_t stride;

  part quarter(std::size_t i, std::size_t j) const {
    return {at + (i * stride + j) * (n / 2), n / 2, stride};
  }

  double& operator()(std::size_t i, std::size_t j) const {
    return at[i * stride + j];
  }
};

// c -= a b^T. The lower triangle alone of a symmetric c is wanted, but all is computed.
template <class Fork>
void subtract_product(Fork fork, part a, part b, part c) {
  if (c.n <= leaf) {
    for (std::size_t i = 0; i < c.n; ++i)
      for (std::size_t j = 0; j < c.n; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < c.n; ++k)
          sum += a(i, k) * b(j, k);
        c(i, j) -= sum;
      }
    return;
  }
  const auto quarter = [=](auto f, std::size_t i, std::size_t j) {
    subtract_product(f, a.quarter(i, 0), b.quarter(j, 0), c.quarter(i, j));
    subtract_product(f, a.quarter(i, 1), b.quarter(j, 1), c.quarter(i, j));
  };
  const auto half = [=](auto f, std::size_t i) {
    f([=](auto g) { quarter(g, i, 0); }, [=](auto g) { quarter(g, i, 1); });
  };
  fork([=](auto f) { half(f, 0); }, [=](auto f) { half(f, 1); });
}

// b := b l^-T
template <class Fork>
void solve(Fork fork, part l, part b) {
  if (b.n <= leaf) {
    for (std::size_t i = 0; i < b.n; ++i)
      for (std::size_t j = 0; j < b.n; ++j) {
        double sum = b(i, j);
        for (std::size_t k = 0; k < j; ++k)
          sum -= b(i, k) * l(j, k);
        b(i, j) = sum / l(j, j);
      }
    return;
  }
  const auto half = [=](auto f, std::size_t i) {
    solve(f, l.quarter(0, 0), b.quarter(i, 0));
    subtract_product(f, b.quarter(i, 0), l.quarter(1, 0), b.quarter(i, 1));
    solve(f, l.quarter(1, 1), b.quarter(i, 1));
  };
  fork([=](auto f) { half(f, 0); }, [=](auto f) { half(f, 1); });
}

template <class Fork>
void cholesky(Fork fork, part a) {
  if (a.n <= leaf) {
    for (std::size_t j = 0; j < a.n; ++j)
      for (std::size_t i = j; i < a.n; ++i) {
        double sum = a(i, j);
        for (std::size_t k = 0; k < j; ++k)
          sum -= a(i, k) * a(j, k);
        a(i, j) = i == j ? std::sqrt(sum) : sum / a(j, j);
      }
    return;
  }
  cholesky(fork, a.quarter(0, 0));
  solve(fork, a.quarter(0, 0), a.quarter(1, 0));
  subtract_product(fork, a.quarter(1, 0), a.quarter(1, 0), a.quarter(1, 1));
  cholesky(fork, a.quarter(1, 1));
}

// The product of L and its transpose, where L is one below the diagonal and n on it.
void fill(std::vector<double>& elements, std::size_t n) {
  elements.resize(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const auto before = static_cast<double>(std::min(i, j));
      const auto diagonal = static_cast<double>(n);
      elements[i * n + j] = before + (i == j ? diagonal * diagonal : diagonal);
    }
}

bool is_right(const std::vector<double>& elements, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      const double wanted = i == j ? static_cast<double>(n) : 1;
      if (std::abs(elements[i * n + j] - wanted) > 1e-6 * wanted)
        return false;
    }
  return true;
}

const bench::suite cholesky_suite{[](bench::plan& plan) {
  constexpr std::size_t n = 512;
  auto elements = std::make_shared<std::vector<double>>();
  bench::program<bool> program{plan, "cholesky", std::to_string(n), true};
  program.prepare([=] { fill(*elements, n); });
  bench::add_fork_cases(program, [=](auto fork) {
    cholesky(fork, part{elements->data(), n, n});
    return is_right(*elements, n);
  });
}};

} // namespace
