// LU decomposition without pivots of a diagonally dominant matrix, in blocks of
// 32: after each block on the diagonal a loop over those right of it and below
// it, and a loop over what is left. The loops become shorter from step to step.

#include "bench/posse/loop.hpp"

#include <memory>
#include <vector>

namespace {

using namespace basal;

constexpr std::size_t side = 32;

struct blocked {
  std::size_t blocks = 0;
  std::vector<double> elements; ///< block after block, each in rows
  double expected = 0;

  double* at(std::size_t i, std::size_t j) {
    return elements.data() + (i * blocks + j) * side * side;
  }

  void reset(std::size_t n) {
    blocks = n;
    elements.resize(n * n * side * side);
    for (std::size_t i = 0; i < elements.size(); ++i)
      elements[i] = static_cast<double>(i * 2654435761u % 1000) / 1000.;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < side; ++k)
        at(i, i)[k * side + k] += static_cast<double>(n * side);
  }

  double sum() const {
    double total = 0;
    for (double x : elements)
      total += x;
    return total;
  }
};

void factor(double* a) {
  for (std::size_t k = 0; k < side; ++k)
    for (std::size_t i = k + 1; i < side; ++i) {
      a[i * side + k] /= a[k * side + k];
      for (std::size_t j = k + 1; j < side; ++j)
        a[i * side + j] -= a[i * side + k] * a[k * side + j];
    }
}

// b := L^-1 b, where L is the lower part of `diagonal`.
void solve_right(const double* diagonal, double* b) {
  for (std::size_t k = 0; k < side; ++k)
    for (std::size_t i = k + 1; i < side; ++i)
      for (std::size_t j = 0; j < side; ++j)
        b[i * side + j] -= diagonal[i * side + k] * b[k * side + j];
}

// b := b U^-1, where U is the upper part of `diagonal`.
void solve_below(const double* diagonal, double* b) {
  for (std::size_t i = 0; i < side; ++i)
    for (std::size_t k = 0; k < side; ++k) {
      b[i * side + k] /= diagonal[k * side + k];
      for (std::size_t j = k + 1; j < side; ++j)
        b[i * side + j] -= b[i * side + k] * diagonal[k * side + j];
    }
}

// c -= a b
void update(const double* a, const double* b, double* __restrict c) {
  for (std::size_t i = 0; i < side; ++i)
    for (std::size_t k = 0; k < side; ++k)
      for (std::size_t j = 0; j < side; ++j)
        c[i * side + j] -= a[i * side + k] * b[k * side + j];
}

// @returns the sum of all elements, which everybody computes in the same way.
template <class Loop>
double decompose(blocked& m, Loop loop) {
  for (std::size_t k = 0; k < m.blocks; ++k) {
    const std::size_t rest = m.blocks - k - 1;
    factor(m.at(k, k));
    loop(2 * rest, [&m, k, rest](std::size_t i) {
      if (i < rest)
        solve_right(m.at(k, k), m.at(k, k + 1 + i));
      else
        solve_below(m.at(k, k), m.at(k + 1 + i - rest, k));
    });
    loop(rest * rest, [&m, k, rest](std::size_t at) {
      const auto i = k + 1 + at / rest;
      const auto j = k + 1 + at % rest;
      update(m.at(i, k), m.at(k, j), m.at(i, j));
    });
  }
  return m.sum();
}

const bench::suite lu_suite{[](bench::plan& plan) {
  constexpr std::size_t blocks = 12;
  auto m = std::make_shared<blocked>();
  bench::program<bool> program{plan, "lu", std::to_string(blocks * side), true};
  program.setup([=] {
    if (m->blocks != 0)
      return;
    m->reset(blocks);
    m->expected = decompose(*m, bench::serial_loop{});
  });
  program.prepare([=] { m->reset(blocks); });
  bench::add_loop_cases(program, bench::elements::uneven,
                        [=](auto loop) { return decompose(*m, loop) == m->expected; });
}};

} // namespace
