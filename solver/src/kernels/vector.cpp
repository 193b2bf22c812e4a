#include <basal/solver/detail/kernels/vector.hpp>

#include <array>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels/tables.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vector.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace basal::solver::kernels::HWY_NAMESPACE {

#include "kernels/lanes-inl.h"

// Vectors in flight: an addition takes four cycles, and two can begin in each.
template <class T>
constexpr std::size_t step_vectors = 4 * block_vectors<T>;
template <class T>
constexpr std::size_t step_lanes = 4 * block_lanes<T>;

template <class T>
HWY_INLINE vec<T> load(const T* p, std::size_t i) {
  return hn::LoadU(tag<T>{}, p + i);
}

template <class T>
HWY_INLINE void store(vec<T> v, T* p, std::size_t i) {
  hn::StoreU(v, tag<T>{}, p + i);
}

template <class T>
HWY_INLINE void clear(vec<T> (&sums)[step_vectors<T>]) {
  unrolled<step_vectors<T>>([&](auto u) BASAL_INLINE_LAMBDA { sums[u] = hn::Zero(tag<T>{}); });
}

// body(streams, i, u) for each vector at i; u tells which partial sums are its own.
template <std::size_t Outputs, class T, std::size_t Streams, class Body>
HWY_INLINE void for_vectors(const std::array<T*, Streams>& streams, std::size_t size, Body body) {
  for_blocks<step_lanes<T>, Outputs>(
    streams, size, [&](const std::array<T*, Streams>& p, std::size_t i) BASAL_INLINE_LAMBDA {
      unrolled<step_vectors<T>>([&](auto u)
                                  BASAL_INLINE_LAMBDA { body(p, i + u * vector_lanes<T>, u); });
    });
}

template <bool Fused, class T>
double dot(const T* x, const T* y, std::size_t size) {
  vec<T> sums[step_vectors<T>];
  clear<T>(sums);
  for_vectors<0>(std::array{input(x), input(y)}, size,
                 [&](const auto& p, std::size_t i, auto u) BASAL_INLINE_LAMBDA {
                   sums[u] = multiply_add<Fused>(load(p[0], i), load(p[1], i), sums[u]);
                 });
  return sum_by_halves<T>(sums);
}

template <bool Fused, class T>
void axpy(T a, const T* x, T* y, std::size_t size) {
  const auto factor = hn::Set(tag<T>{}, a);
  for_vectors<1>(std::array{y, input(x)}, size,
                 [&](const auto& p, std::size_t i, auto) BASAL_INLINE_LAMBDA {
                   store(multiply_add<Fused>(factor, load(p[1], i), load(p[0], i)), p[0], i);
                 });
}

template <class T>
void scale(const T* d, const T* r, T* z, std::size_t size) {
  for_vectors<1>(std::array{z, input(d), input(r)}, size,
                 [&](const auto& p, std::size_t i, auto)
                   BASAL_INLINE_LAMBDA { store(hn::Mul(load(p[1], i), load(p[2], i)), p[0], i); });
}

template <bool Fused, class T>
two_sums cg_residual(T alpha, const T* q, const T* d, T* r, std::size_t size) {
  const auto factor = hn::Set(tag<T>{}, alpha);
  vec<T> squares[step_vectors<T>];
  vec<T> scaled[step_vectors<T>];
  clear<T>(squares);
  clear<T>(scaled);
  for_vectors<1>(std::array{r, input(q), input(d)}, size,
                 [&](const auto& p, std::size_t i, auto u) BASAL_INLINE_LAMBDA {
                   const auto next
                     = negative_multiply_add<Fused>(factor, load(p[1], i), load(p[0], i));
                   store(next, p[0], i);
                   squares[u] = multiply_add<Fused>(next, next, squares[u]);
                   scaled[u] = multiply_add<Fused>(hn::Mul(load(p[2], i), next), next, scaled[u]);
                 });
  return {sum_by_halves<T>(squares), sum_by_halves<T>(scaled)};
}

template <bool Fused, class T>
void cg_direction(T alpha, T beta, const T* d, const T* r, T* direction, T* x, std::size_t size) {
  const auto step = hn::Set(tag<T>{}, alpha);
  const auto keep = hn::Set(tag<T>{}, beta);
  for_vectors<2>(std::array{direction, x, input(d), input(r)}, size,
                 [&](const auto& p, std::size_t i, auto) BASAL_INLINE_LAMBDA {
                   const auto old = load(p[0], i);
                   store(multiply_add<Fused>(step, old, load(p[1], i)), p[1], i);
                   store(multiply_add<Fused>(keep, old, hn::Mul(load(p[2], i), load(p[3], i))),
                         p[0], i);
                 });
}

template <bool Fused, class T>
void bicgstab_direction(T beta, T omega, const T* r, const T* v, T* direction, std::size_t size) {
  const auto keep = hn::Set(tag<T>{}, beta);
  const auto damping = hn::Set(tag<T>{}, omega);
  for_vectors<1>(std::array{direction, input(r), input(v)}, size,
                 [&](const auto& p, std::size_t i, auto) BASAL_INLINE_LAMBDA {
                   const auto damped
                     = negative_multiply_add<Fused>(damping, load(p[2], i), load(p[0], i));
                   store(multiply_add<Fused>(keep, damped, load(p[1], i)), p[0], i);
                 });
}

template <bool Fused, class T>
two_sums bicgstab_omega(const T* t, const T* s, std::size_t size) {
  vec<T> squares[step_vectors<T>];
  vec<T> products[step_vectors<T>];
  clear<T>(squares);
  clear<T>(products);
  for_vectors<0>(std::array{input(t), input(s)}, size,
                 [&](const auto& p, std::size_t i, auto u) BASAL_INLINE_LAMBDA {
                   const auto at = load(p[0], i);
                   squares[u] = multiply_add<Fused>(at, at, squares[u]);
                   products[u] = multiply_add<Fused>(at, load(p[1], i), products[u]);
                 });
  return {sum_by_halves<T>(squares), sum_by_halves<T>(products)};
}

template <bool Fused, class T>
two_sums bicgstab_update(T alpha, T omega, const T* direction, const T* s, const T* t,
                         const T* shadow, T* r, T* x, std::size_t size) {
  const auto along = hn::Set(tag<T>{}, alpha);
  const auto damping = hn::Set(tag<T>{}, omega);
  vec<T> squares[step_vectors<T>];
  vec<T> products[step_vectors<T>];
  clear<T>(squares);
  clear<T>(products);
  for_vectors<2>(std::array{r, x, input(direction), input(s), input(t), input(shadow)}, size,
                 [&](const auto& p, std::size_t i, auto u) BASAL_INLINE_LAMBDA {
                   const auto next
                     = negative_multiply_add<Fused>(damping, load(p[4], i), load(p[0], i));
                   store(next, p[0], i);
                   squares[u] = multiply_add<Fused>(next, next, squares[u]);
                   products[u] = multiply_add<Fused>(next, load(p[5], i), products[u]);
                   const auto moved = multiply_add<Fused>(along, load(p[2], i), load(p[1], i));
                   store(multiply_add<Fused>(damping, load(p[3], i), moved), p[1], i);
                 });
  return {sum_by_halves<T>(squares), sum_by_halves<T>(products)};
}

template <bool Fused, class T>
constexpr vector_table<T> vector_kernels{dot<Fused, T>,
                                         axpy<Fused, T>,
                                         scale<T>,
                                         cg_residual<Fused, T>,
                                         cg_direction<Fused, T>,
                                         bicgstab_direction<Fused, T>,
                                         bicgstab_omega<Fused, T>,
                                         bicgstab_update<Fused, T>};

BASAL_KERNEL_TABLES(vector)

} // namespace basal::solver::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace basal::solver::kernels {

namespace {

BASAL_BEST_KERNELS(vector)

} // namespace

template <class T>
double dot(std::span<const T> x, std::span<const T> y, summation order) {
  assert(x.size() == y.size());
  return best<T>(order).dot(x.data(), y.data(), x.size());
}

template <class T>
void axpy(T a, std::span<const T> x, std::span<T> y, summation order) {
  assert(x.size() == y.size());
  best<T>(order).axpy(a, x.data(), y.data(), x.size());
}

template <class T>
void scale(std::span<const T> d, std::span<const T> r, std::span<T> z) {
  assert(d.size() == r.size() && d.size() == z.size());
  best<T>(summation::native).scale(d.data(), r.data(), z.data(), z.size());
}

template <class T>
two_sums cg_residual(T alpha, std::span<const T> q, std::span<const T> d, std::span<T> r,
                     summation order) {
  assert(q.size() == r.size() && d.size() == r.size());
  return best<T>(order).cg_residual(alpha, q.data(), d.data(), r.data(), r.size());
}

template <class T>
void cg_direction(T alpha, T beta, std::span<const T> d, std::span<const T> r, std::span<T> p,
                  std::span<T> x, summation order) {
  assert(d.size() == p.size() && r.size() == p.size() && x.size() == p.size());
  best<T>(order).cg_direction(alpha, beta, d.data(), r.data(), p.data(), x.data(), p.size());
}

template <class T>
void bicgstab_direction(T beta, T omega, std::span<const T> r, std::span<const T> v, std::span<T> p,
                        summation order) {
  assert(r.size() == p.size() && v.size() == p.size());
  best<T>(order).bicgstab_direction(beta, omega, r.data(), v.data(), p.data(), p.size());
}

template <class T>
two_sums bicgstab_omega(std::span<const T> t, std::span<const T> s, summation order) {
  assert(t.size() == s.size());
  return best<T>(order).bicgstab_omega(t.data(), s.data(), t.size());
}

template <class T>
two_sums bicgstab_update(T alpha, T omega, std::span<const T> p, std::span<const T> s,
                         std::span<const T> t, std::span<const T> shadow, std::span<T> r,
                         std::span<T> x, summation order) {
  assert(p.size() == r.size() && s.size() == r.size() && t.size() == r.size()
         && shadow.size() == r.size() && x.size() == r.size());
  return best<T>(order).bicgstab_update(alpha, omega, p.data(), s.data(), t.data(), shadow.data(),
                                        r.data(), x.data(), r.size());
}

#  define BASAL_INSTANTIATE(T)                                                                     \
    template double dot(std::span<const T>, std::span<const T>, summation);                        \
    template void axpy(T, std::span<const T>, std::span<T>, summation);                            \
    template void scale(std::span<const T>, std::span<const T>, std::span<T>);                     \
    template two_sums cg_residual(T, std::span<const T>, std::span<const T>, std::span<T>,         \
                                  summation);                                                      \
    template void cg_direction(T, T, std::span<const T>, std::span<const T>, std::span<T>,         \
                               std::span<T>, summation);                                           \
    template void bicgstab_direction(T, T, std::span<const T>, std::span<const T>, std::span<T>,   \
                                     summation);                                                   \
    template two_sums bicgstab_omega(std::span<const T>, std::span<const T>, summation);           \
    template two_sums bicgstab_update(T, T, std::span<const T>, std::span<const T>,                \
                                      std::span<const T>, std::span<const T>, std::span<T>,        \
                                      std::span<T>, summation);

BASAL_INSTANTIATE(float)
BASAL_INSTANTIATE(double)

} // namespace basal::solver::kernels
#endif
