#include <basal/solver/detail/kernels/block.hpp>

#include <array>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels/tables.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/block.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace basal::solver::kernels::HWY_NAMESPACE {

#include "kernels/lanes-inl.h"

// Calls body(d, k) for vectors of the tag d that cover columns k and following of a row: whole
// vectors first, then single columns.
template <class T, class Body>
HWY_INLINE void for_columns(std::size_t width, Body body) {
  const tag<T> whole;
  const hn::CappedTag<T, 1> single;
  std::size_t k = 0;
  for (; k + vector_lanes<T> <= width; k += vector_lanes<T>)
    body(whole, k);
  for (; k < width; ++k)
    body(single, k);
}

template <bool Fused, class T>
void block_dot(std::size_t width, std::size_t size, const T* x, const T* y, T* sums) {
  for_columns<T>(width, [&](auto d, std::size_t k) BASAL_INLINE_LAMBDA {
    auto sum = hn::Zero(d);
    for (std::size_t i = k; i < size; i += width)
      sum = multiply_add<Fused>(hn::LoadU(d, x + i), hn::LoadU(d, y + i), sum);
    hn::StoreU(sum, d, sums + k);
  });
}

template <class T>
void block_scale(std::size_t width, std::size_t size, const T* c, const T* diagonal, const T* r,
                 T* z) {
  for_columns<T>(width, [&](auto d, std::size_t k) BASAL_INLINE_LAMBDA {
    const auto factor = hn::LoadU(d, c + k);
    const T* row = diagonal;
    for (std::size_t i = k; i < size; i += width)
      hn::StoreU(hn::Mul(factor, hn::Mul(hn::Set(d, *row++), hn::LoadU(d, r + i))), d, z + i);
  });
}

template <bool Fused, class T>
void block_residual(std::size_t width, std::size_t size, const T* b, const T* product, T* r,
                    T* sums) {
  for_columns<T>(width, [&](auto d, std::size_t k) BASAL_INLINE_LAMBDA {
    auto sum = hn::Zero(d);
    for (std::size_t i = k; i < size; i += width) {
      const auto left = hn::Sub(hn::LoadU(d, b + i), hn::LoadU(d, product + i));
      hn::StoreU(left, d, r + i);
      sum = multiply_add<Fused>(left, left, sum);
    }
    hn::StoreU(sum, d, sums + k);
  });
}

template <bool Fused, class T>
void block_neumann(std::size_t width, std::size_t size, const T* c, const T* product,
                   const T* diagonal, T* t, T* x, T* r, T* sums) {
  for_columns<T>(width, [&](auto d, std::size_t k) BASAL_INLINE_LAMBDA {
    const auto factor = hn::LoadU(d, c + k);
    auto sum = hn::Zero(d);
    const T* row = diagonal;
    for (std::size_t i = k; i < size; i += width) {
      hn::StoreU(multiply_add<Fused>(factor, hn::LoadU(d, t + i), hn::LoadU(d, x + i)), d, x + i);
      const auto left
        = negative_multiply_add<Fused>(factor, hn::LoadU(d, product + i), hn::LoadU(d, r + i));
      hn::StoreU(left, d, r + i);
      hn::StoreU(hn::Mul(hn::Set(d, *row++), left), d, t + i);
      sum = multiply_add<Fused>(left, left, sum);
    }
    hn::StoreU(sum, d, sums + k);
  });
}

template <bool Fused, class T>
void block_cg_residual(std::size_t width, std::size_t size, const T* alpha, const T* q,
                       const T* diagonal, T* r, T* squares, T* scaled) {
  for_columns<T>(width, [&](auto d, std::size_t k) BASAL_INLINE_LAMBDA {
    const auto factor = hn::LoadU(d, alpha + k);
    auto plain_sum = hn::Zero(d);
    auto scaled_sum = hn::Zero(d);
    const T* row = diagonal;
    for (std::size_t i = k; i < size; i += width) {
      const auto next
        = negative_multiply_add<Fused>(factor, hn::LoadU(d, q + i), hn::LoadU(d, r + i));
      hn::StoreU(next, d, r + i);
      plain_sum = multiply_add<Fused>(next, next, plain_sum);
      scaled_sum = multiply_add<Fused>(hn::Mul(hn::Set(d, *row++), next), next, scaled_sum);
    }
    hn::StoreU(plain_sum, d, squares + k);
    hn::StoreU(scaled_sum, d, scaled + k);
  });
}

template <bool Fused, class T>
void block_cg_direction(std::size_t width, std::size_t size, const T* alpha, const T* beta,
                        const T* diagonal, const T* r, T* p, T* x) {
  for_columns<T>(width, [&](auto d, std::size_t k) BASAL_INLINE_LAMBDA {
    const auto step = hn::LoadU(d, alpha + k);
    const auto keep = hn::LoadU(d, beta + k);
    const T* row = diagonal;
    for (std::size_t i = k; i < size; i += width) {
      const auto old = hn::LoadU(d, p + i);
      hn::StoreU(multiply_add<Fused>(step, old, hn::LoadU(d, x + i)), d, x + i);
      const auto scaled = hn::Mul(hn::Set(d, *row++), hn::LoadU(d, r + i));
      hn::StoreU(multiply_add<Fused>(keep, old, scaled), d, p + i);
    }
  });
}

template <bool Fused, class T>
constexpr block_table<T> block_kernels{block_dot<Fused, T>,         block_scale<T>,
                                       block_residual<Fused, T>,    block_neumann<Fused, T>,
                                       block_cg_residual<Fused, T>, block_cg_direction<Fused, T>};

BASAL_KERNEL_TABLES(block)

} // namespace basal::solver::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace basal::solver::kernels {

namespace {

BASAL_BEST_KERNELS(block)

} // namespace

template <class T>
void block_dot(std::size_t width, std::span<const T> x, std::span<const T> y, std::span<T> sums,
               summation order) {
  assert(x.size() == y.size() && x.size() % width == 0 && sums.size() >= width);
  best<T>(order).dot(width, x.size(), x.data(), y.data(), sums.data());
}

template <class T>
void block_scale(std::size_t width, std::span<const T> c, std::span<const T> d,
                 std::span<const T> r, std::span<T> z) {
  assert(r.size() == d.size() * width && z.size() == r.size() && c.size() >= width);
  best<T>(summation::native).scale(width, r.size(), c.data(), d.data(), r.data(), z.data());
}

template <class T>
void block_residual(std::size_t width, std::span<const T> b, std::span<const T> product,
                    std::span<T> r, std::span<T> sums, summation order) {
  assert(b.size() == r.size() && product.size() == r.size() && sums.size() >= width);
  best<T>(order).residual(width, r.size(), b.data(), product.data(), r.data(), sums.data());
}

template <class T>
void block_neumann(std::size_t width, std::span<const T> c, std::span<const T> product,
                   std::span<const T> d, std::span<T> t, std::span<T> x, std::span<T> r,
                   std::span<T> sums, summation order) {
  assert(r.size() == d.size() * width && t.size() == r.size() && x.size() == r.size()
         && product.size() == r.size() && c.size() >= width && sums.size() >= width);
  best<T>(order).neumann(width, r.size(), c.data(), product.data(), d.data(), t.data(), x.data(),
                         r.data(), sums.data());
}

template <class T>
void block_cg_residual(std::size_t width, std::span<const T> alpha, std::span<const T> q,
                       std::span<const T> d, std::span<T> r, std::span<T> squares,
                       std::span<T> scaled, summation order) {
  assert(r.size() == d.size() * width && q.size() == r.size() && alpha.size() >= width
         && squares.size() >= width && scaled.size() >= width);
  best<T>(order).cg_residual(width, r.size(), alpha.data(), q.data(), d.data(), r.data(),
                             squares.data(), scaled.data());
}

template <class T>
void block_cg_direction(std::size_t width, std::span<const T> alpha, std::span<const T> beta,
                        std::span<const T> d, std::span<const T> r, std::span<T> p, std::span<T> x,
                        summation order) {
  assert(r.size() == d.size() * width && p.size() == r.size() && x.size() == r.size()
         && alpha.size() >= width && beta.size() >= width);
  best<T>(order).cg_direction(width, r.size(), alpha.data(), beta.data(), d.data(), r.data(),
                              p.data(), x.data());
}

#  define BASAL_INSTANTIATE(T)                                                                     \
    template void block_dot(std::size_t, std::span<const T>, std::span<const T>, std::span<T>,     \
                            summation);                                                            \
    template void block_scale(std::size_t, std::span<const T>, std::span<const T>,                 \
                              std::span<const T>, std::span<T>);                                   \
    template void block_residual(std::size_t, std::span<const T>, std::span<const T>,              \
                                 std::span<T>, std::span<T>, summation);                           \
    template void block_neumann(std::size_t, std::span<const T>, std::span<const T>,               \
                                std::span<const T>, std::span<T>, std::span<T>, std::span<T>,      \
                                std::span<T>, summation);                                          \
    template void block_cg_residual(std::size_t, std::span<const T>, std::span<const T>,           \
                                    std::span<const T>, std::span<T>, std::span<T>, std::span<T>,  \
                                    summation);                                                    \
    template void block_cg_direction(std::size_t, std::span<const T>, std::span<const T>,          \
                                     std::span<const T>, std::span<const T>, std::span<T>,         \
                                     std::span<T>, summation);

BASAL_INSTANTIATE(float)
BASAL_INSTANTIATE(double)

} // namespace basal::solver::kernels
#endif
