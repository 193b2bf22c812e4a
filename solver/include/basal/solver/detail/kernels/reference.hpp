/// The kernels once more, as plain loops: what they compute, in the order in which
/// summation::portable computes it, bit for bit. For tests, and for reading.
#pragma once

#include <cstddef>
#include <span>

#include <basal/solver/csr_matrix.hpp>

namespace basal::solver::kernels::reference {

template <class T>
double dot(std::span<const T> x, std::span<const T> y);

template <class T>
void multiply(const csr_matrix<T>& a, std::span<const T> x, std::span<T> y);

template <class T>
double multiply_dot(const csr_matrix<T>& a, std::span<const T> x, std::span<T> y);

template <class T>
double residual(const csr_matrix<T>& a, std::span<const T> x, std::span<const T> b, std::span<T> r);

template <class T>
double neumann_term(const csr_matrix<T>& a, std::span<const T> t, std::span<const T> d,
                    std::span<T> x, std::span<T> r, std::span<T> next);

template <class T>
void multiply_block(const csr_matrix<T>& a, std::size_t width, std::span<const T> x,
                    std::span<T> y);

} // namespace basal::solver::kernels::reference
