/// Kernels on dense vectors, vectorised for the CPU that runs them.
///
/// They allocate nothing and do not throw; all spans of a call have the same size (asserted) and
/// do not overlap. Memory needs no alignment. T is float or double; a sum is of type T and is
/// returned as double.
///
/// A sum has a fixed order, the same for all vector lengths of the CPU: summand i belongs to
/// partial sum i mod (256 bytes / sizeof(T)); partial sums are added by halves, s[i] += s[i + h]
/// for h = 1/2, 1/4, ... of their number. See summation for what else may differ.
#pragma once

#include <span>

#include <basal/solver/summation.hpp>

namespace basal::solver::kernels {

/// x'y
template <class T>
double dot(std::span<const T> x, std::span<const T> y, summation order);

/// y += a x
template <class T>
void axpy(T a, std::span<const T> x, std::span<T> y, summation order);

/// z[i] = d[i] r[i]
template <class T>
void scale(std::span<const T> d, std::span<const T> r, std::span<T> z);

struct two_sums {
  double first;
  double second;
};

/// r -= alpha q; returns r'r and sum of d[i] r[i]^2. One iteration of conjugate gradients reads
/// its vectors in two passes: this one and cg_direction.
template <class T>
two_sums cg_residual(T alpha, std::span<const T> q, std::span<const T> d, std::span<T> r,
                     summation order);

/// x += alpha p; p = d r + beta p (entry by entry)
template <class T>
void cg_direction(T alpha, T beta, std::span<const T> d, std::span<const T> r, std::span<T> p,
                  std::span<T> x, summation order);

/// p = r + beta (p - omega v)
template <class T>
void bicgstab_direction(T beta, T omega, std::span<const T> r, std::span<const T> v, std::span<T> p,
                        summation order);

/// t't and t's
template <class T>
two_sums bicgstab_omega(std::span<const T> t, std::span<const T> s, summation order);

/// r -= omega t; x += alpha p + omega s; returns r'r and r'shadow
template <class T>
two_sums bicgstab_update(T alpha, T omega, std::span<const T> p, std::span<const T> s,
                         std::span<const T> t, std::span<const T> shadow, std::span<T> r,
                         std::span<T> x, summation order);

} // namespace basal::solver::kernels
