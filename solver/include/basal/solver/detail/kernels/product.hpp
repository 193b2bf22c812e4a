/// Products of a sparse matrix with one or several vectors, vectorised for the CPU.
///
/// Conditions as in vector.hpp, and x must be finite: where it is not, neighbours of the rows
/// that read it may become NaN, too. The first product with a matrix builds its packed() form;
/// the others allocate nothing.
///
/// The order of a row's sum depends on its length alone: from left to right, and from 64 entries
/// on in partial sums (entry i belongs to sum i mod (128 bytes / sizeof(T)), added by halves).
/// Sums over rows, as in multiply_dot: row i belongs to sum i mod (64 bytes / sizeof(T)).
#pragma once

#include <cstddef>
#include <span>

#include <basal/solver/csr_matrix.hpp>
#include <basal/solver/summation.hpp>

namespace basal::solver::kernels {

/// y = A x
template <class T>
void multiply(const csr_matrix<T>& a, std::span<const T> x, std::span<T> y, summation order);

/// y = A x; returns x'y. A is square.
template <class T>
double multiply_dot(const csr_matrix<T>& a, std::span<const T> x, std::span<T> y, summation order);

/// r = b - A x; returns r'r
template <class T>
double residual(const csr_matrix<T>& a, std::span<const T> x, std::span<const T> b, std::span<T> r,
                summation order);

/// One term of a Neumann series: x += t; r -= A t; next = d r (entry by entry); returns r'r.
/// A is square.
template <class T>
double neumann_term(const csr_matrix<T>& a, std::span<const T> t, std::span<const T> d,
                    std::span<T> x, std::span<T> r, std::span<T> next, summation order);

/// Y = A X for `width` columns at once; X and Y are row-major, entry (i, k) at i * width + k.
/// Each row's sum goes from left to right, whatever its length. Reads A once for all columns.
template <class T>
void multiply_block(const csr_matrix<T>& a, std::size_t width, std::span<const T> x, std::span<T> y,
                    summation order);

} // namespace basal::solver::kernels
