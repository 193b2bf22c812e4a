/// Kernels on several vectors at once, for block_stepper.
///
/// Arrays of vectors are row-major: entry i of vector k is at i * width + k. `d` has one number per
/// row; coefficients and sums have one per column. A column's sum goes from the first row to the
/// last. A column whose coefficient is 0 keeps its values. Other conditions as in vector.hpp.
#pragma once

#include <cstddef>
#include <span>

#include <basal/solver/summation.hpp>

namespace basal::solver::kernels {

/// sums[k] = sum over i of x y
template <class T>
void block_dot(std::size_t width, std::span<const T> x, std::span<const T> y, std::span<T> sums,
               summation order);

/// z = c d r
template <class T>
void block_scale(std::size_t width, std::span<const T> c, std::span<const T> d,
                 std::span<const T> r, std::span<T> z);

/// r = b - product; sums of r^2
template <class T>
void block_residual(std::size_t width, std::span<const T> b, std::span<const T> product,
                    std::span<T> r, std::span<T> sums, summation order);

/// x += c t; r -= c product; t = d r; sums of r^2
template <class T>
void block_neumann(std::size_t width, std::span<const T> c, std::span<const T> product,
                   std::span<const T> d, std::span<T> t, std::span<T> x, std::span<T> r,
                   std::span<T> sums, summation order);

/// r -= alpha q; squares: sums of r^2; scaled: sums of d r^2
template <class T>
void block_cg_residual(std::size_t width, std::span<const T> alpha, std::span<const T> q,
                       std::span<const T> d, std::span<T> r, std::span<T> squares,
                       std::span<T> scaled, summation order);

/// x += alpha p; p = d r + beta p
template <class T>
void block_cg_direction(std::size_t width, std::span<const T> alpha, std::span<const T> beta,
                        std::span<const T> d, std::span<const T> r, std::span<T> p, std::span<T> x,
                        summation order);

} // namespace basal::solver::kernels
