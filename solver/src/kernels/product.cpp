#include <basal/solver/detail/kernels/product.hpp>

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <basal/solver/detail/packed_rows.hpp>

#include "kernels/tables.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/product.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace basal::solver::kernels::HWY_NAMESPACE {

#include "kernels/lanes-inl.h"

// x at the columns that `columns` names, as many as a vector has lanes.
template <class T>
HWY_INLINE vec<T> gather(const T* x, const index_type* columns) {
  const hn::Rebind<index_type, tag<T>> narrow;
  const hn::RebindToSigned<tag<T>> wide;
  if constexpr (sizeof(T) == sizeof(index_type))
    return hn::GatherIndex(tag<T>{}, x, hn::LoadU(narrow, columns));
  else
    return hn::GatherIndex(tag<T>{}, x, hn::PromoteTo(wide, hn::LoadU(narrow, columns)));
}

// Reads the chunks one after the other.
template <bool Fused, class T>
class chunk_reader {
public:
  HWY_INLINE chunk_reader(const detail::packed_rows<T>& packed, const T* x)
    : headers_(packed.headers().data()),
      values_(packed.values()),
      columns_(packed.columns()),
      x_(x) {
  }

  // The products of the next chunk's rows.
  HWY_INLINE void next(vec<T> (&sums)[block_vectors<T>]) {
    const tag<T> d;
    unrolled<block_vectors<T>>([&](auto v) BASAL_INLINE_LAMBDA { sums[v] = hn::Zero(d); });
    const auto header = *headers_++;
    const T* const end = values_ + header / 2 * block_lanes<T>;
    if ((header & 1) != 0) {
      for (; values_ != end; values_ += block_lanes<T>) {
        const T* const from = x_ + *columns_++;
        unrolled<block_vectors<T>>([&](auto v) BASAL_INLINE_LAMBDA {
          sums[v] = multiply_add<Fused>(hn::Load(d, values_ + v * vector_lanes<T>),
                                        hn::LoadU(d, from + v * vector_lanes<T>), sums[v]);
        });
      }
    } else {
      for (; values_ != end; values_ += block_lanes<T>, columns_ += block_lanes<T>) {
        unrolled<block_vectors<T>>([&](auto v) BASAL_INLINE_LAMBDA {
          sums[v] = multiply_add<Fused>(hn::Load(d, values_ + v * vector_lanes<T>),
                                        gather(x_, columns_ + v * vector_lanes<T>), sums[v]);
        });
      }
    }
  }

private:
  const std::uint32_t* headers_;
  const T* values_;
  const index_type* columns_;
  const T* x_;
};

// A row of many entries: two blocks of partial sums.
template <bool Fused, class T>
T long_row_product(const T* values, const index_type* columns, std::size_t size, const T* x) {
  constexpr std::size_t vectors = 2 * block_vectors<T>;
  constexpr std::size_t step = 2 * block_lanes<T>;
  const tag<T> d;
  vec<T> sums[vectors];
  unrolled<vectors>([&](auto v) BASAL_INLINE_LAMBDA { sums[v] = hn::Zero(d); });
  const auto add = [&](const T* a, const index_type* c) BASAL_INLINE_LAMBDA {
    unrolled<vectors>([&](auto v) BASAL_INLINE_LAMBDA {
      sums[v] = multiply_add<Fused>(hn::LoadU(d, a + v * vector_lanes<T>),
                                    gather(x, c + v * vector_lanes<T>), sums[v]);
    });
  };
  std::size_t i = 0;
  for (; i + step <= size; i += step)
    add(values + i, columns + i);
  if (i < size) {
    T rest_values[step] = {};
    index_type rest_columns[step];
    for (std::size_t k = 0; k < step; ++k)
      rest_columns[k] = columns[i];
    std::memcpy(rest_values, values + i, (size - i) * sizeof(T));
    std::memcpy(rest_columns, columns + i, (size - i) * sizeof(index_type));
    add(rest_values, rest_columns);
  }
  return sum_by_halves<T>(sums);
}

// y = A x where rows are not in order.
template <bool Fused, class T>
void multiply_scattered(const csr_matrix<T>& a, const T* x, T* y) {
  const auto& packed = a.packed();
  chunk_reader<Fused, T> chunks{packed, x};
  const auto count = static_cast<std::size_t>(packed.packed_count());
  const index_type* rows = packed.rows().data();
  for (std::size_t first = 0; first < count; first += block_lanes<T>) {
    vec<T> sums[block_vectors<T>];
    chunks.next(sums);
    HWY_ALIGN T results[block_lanes<T>];
    unrolled<block_vectors<T>>([&](auto v) BASAL_INLINE_LAMBDA {
      hn::Store(sums[v], tag<T>{}, results + v * vector_lanes<T>);
    });
    const auto here = count - first < block_lanes<T> ? count - first : block_lanes<T>;
    for (std::size_t l = 0; l < here; ++l)
      y[rows[first + l]] = results[l];
  }
  for (const index_type row : packed.unpacked_rows()) {
    const auto values = a.row_values(row);
    y[row] = long_row_product<Fused>(values.data(), a.row_columns(row).data(), values.size(), x);
  }
}

// Computes A x a block of rows at a time and hands it on while it is in registers:
// body(streams, i, product) for each vector at i, as in for_blocks. Where rows are not in order,
// A x goes through `buffer`, which may be a stream that body only writes.
template <bool Fused, std::size_t Outputs, class T, std::size_t Streams, class Body>
HWY_INLINE void for_products(const csr_matrix<T>& a, const T* x, T* buffer,
                             const std::array<T*, Streams>& streams, Body body) {
  const auto size = static_cast<std::size_t>(a.rows());
  const auto& packed = a.packed();
  if (packed.in_order()) {
    chunk_reader<Fused, T> chunks{packed, x};
    for_blocks<block_lanes<T>, Outputs>(
      streams, size, [&](const std::array<T*, Streams>& p, std::size_t i) BASAL_INLINE_LAMBDA {
        vec<T> sums[block_vectors<T>];
        chunks.next(sums);
        unrolled<block_vectors<T>>(
          [&](auto v) BASAL_INLINE_LAMBDA { body(p, i + v * vector_lanes<T>, v, sums[v]); });
      });
    return;
  }
  multiply_scattered<Fused>(a, x, buffer);
  std::array<T*, Streams + 1> with_product;
  for (std::size_t s = 0; s < Streams; ++s)
    with_product[s] = streams[s];
  with_product[Streams] = buffer;
  for_blocks<block_lanes<T>, Outputs>(
    with_product, size,
    [&](const std::array<T*, Streams + 1>& p, std::size_t i) BASAL_INLINE_LAMBDA {
      unrolled<block_vectors<T>>([&](auto v) BASAL_INLINE_LAMBDA {
        const auto at = i + v * vector_lanes<T>;
        body(p, at, v, hn::LoadU(tag<T>{}, p[Streams] + at));
      });
    });
}

template <bool Fused, class T>
void multiply(const csr_matrix<T>& a, const T* x, T* y) {
  if (!a.packed().in_order())
    return multiply_scattered<Fused>(a, x, y);
  for_products<Fused, 1>(a, x, y, std::array{y},
                         [&](const auto& p, std::size_t i, auto, auto product)
                           BASAL_INLINE_LAMBDA { hn::StoreU(product, tag<T>{}, p[0] + i); });
}

template <bool Fused, class T>
double multiply_dot(const csr_matrix<T>& a, const T* x, T* y) {
  const tag<T> d;
  vec<T> sums[block_vectors<T>];
  unrolled<block_vectors<T>>([&](auto v) BASAL_INLINE_LAMBDA { sums[v] = hn::Zero(d); });
  for_products<Fused, 1>(
    a, x, y, std::array{y, input(x)},
    [&](const auto& p, std::size_t i, auto v, auto product) BASAL_INLINE_LAMBDA {
      hn::StoreU(product, d, p[0] + i);
      sums[v] = multiply_add<Fused>(hn::LoadU(d, p[1] + i), product, sums[v]);
    });
  return sum_by_halves<T>(sums);
}

template <bool Fused, class T>
double residual(const csr_matrix<T>& a, const T* x, const T* b, T* r) {
  const tag<T> d;
  vec<T> sums[block_vectors<T>];
  unrolled<block_vectors<T>>([&](auto v) BASAL_INLINE_LAMBDA { sums[v] = hn::Zero(d); });
  for_products<Fused, 1>(a, x, r, std::array{r, input(b)},
                         [&](const auto& p, std::size_t i, auto v, auto product)
                           BASAL_INLINE_LAMBDA {
                             const auto difference = hn::Sub(hn::LoadU(d, p[1] + i), product);
                             hn::StoreU(difference, d, p[0] + i);
                             sums[v] = multiply_add<Fused>(difference, difference, sums[v]);
                           });
  return sum_by_halves<T>(sums);
}

template <bool Fused, class T>
double neumann_term(const csr_matrix<T>& a, const T* t, const T* scaling, T* x, T* r, T* next) {
  const tag<T> d;
  vec<T> sums[block_vectors<T>];
  unrolled<block_vectors<T>>([&](auto v) BASAL_INLINE_LAMBDA { sums[v] = hn::Zero(d); });
  for_products<Fused, 3>(
    a, t, next, std::array{next, x, r, input(t), input(scaling)},
    [&](const auto& p, std::size_t i, auto v, auto product) BASAL_INLINE_LAMBDA {
      const auto left = hn::Sub(hn::LoadU(d, p[2] + i), product);
      hn::StoreU(hn::Mul(hn::LoadU(d, p[4] + i), left), d, p[0] + i);
      hn::StoreU(hn::Add(hn::LoadU(d, p[1] + i), hn::LoadU(d, p[3] + i)), d, p[1] + i);
      hn::StoreU(left, d, p[2] + i);
      sums[v] = multiply_add<Fused>(left, left, sums[v]);
    });
  return sum_by_halves<T>(sums);
}

// Columns first to first + Vectors * lanes of one row of Y, with vectors of the tag D.
template <bool Fused, std::size_t Vectors, class D, class T>
HWY_INLINE void block_row(D d, const T* values, const index_type* columns, std::size_t size,
                          std::size_t width, const T* x, T* y) {
  constexpr std::size_t lanes = hn::MaxLanes(D{});
  hn::Vec<D> sums[Vectors];
  unrolled<Vectors>([&](auto v) BASAL_INLINE_LAMBDA { sums[v] = hn::Zero(d); });
  for (std::size_t k = 0; k < size; ++k) {
    const auto factor = hn::Set(d, values[k]);
    const T* const from = x + static_cast<std::size_t>(columns[k]) * width;
    unrolled<Vectors>([&](auto v) BASAL_INLINE_LAMBDA {
      sums[v] = multiply_add<Fused>(factor, hn::LoadU(d, from + v * lanes), sums[v]);
    });
  }
  unrolled<Vectors>([&](auto v) BASAL_INLINE_LAMBDA { hn::StoreU(sums[v], d, y + v * lanes); });
}

template <bool Fused, class T>
void multiply_block(const csr_matrix<T>& a, std::size_t width, const T* x, T* y) {
  constexpr std::size_t lanes = vector_lanes<T>;
  const tag<T> d;
  const hn::CappedTag<T, 1> single;
  const index_type* starts = a.row_starts().data();
  const T* all_values = a.values().data();
  const index_type* all_columns = a.column_indices().data();
  const auto rows = static_cast<std::size_t>(a.rows());
  for (std::size_t r = 0; r < rows; ++r, y += width) {
    const T* values = all_values + starts[r];
    const index_type* columns = all_columns + starts[r];
    const auto size = static_cast<std::size_t>(starts[r + 1] - starts[r]);
    std::size_t k = 0;
    for (; k + 4 * lanes <= width; k += 4 * lanes)
      block_row<Fused, 4>(d, values, columns, size, width, x + k, y + k);
    for (; k + 2 * lanes <= width; k += 2 * lanes)
      block_row<Fused, 2>(d, values, columns, size, width, x + k, y + k);
    for (; k + lanes <= width; k += lanes)
      block_row<Fused, 1>(d, values, columns, size, width, x + k, y + k);
    for (; k < width; ++k)
      block_row<Fused, 1>(single, values, columns, size, width, x + k, y + k);
  }
}

template <bool Fused, class T>
constexpr product_table<T> product_kernels{multiply<Fused, T>, multiply_dot<Fused, T>,
                                           residual<Fused, T>, neumann_term<Fused, T>,
                                           multiply_block<Fused, T>};

BASAL_KERNEL_TABLES(product)

} // namespace basal::solver::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace basal::solver::kernels {

namespace {

BASAL_BEST_KERNELS(product)

[[maybe_unused]] bool fits(index_type count, std::size_t size) {
  return static_cast<std::size_t>(count) == size;
}

} // namespace

template <class T>
void multiply(const csr_matrix<T>& a, std::span<const T> x, std::span<T> y, summation order) {
  assert(fits(a.columns(), x.size()) && fits(a.rows(), y.size()));
  best<T>(order).multiply(a, x.data(), y.data());
}

template <class T>
double multiply_dot(const csr_matrix<T>& a, std::span<const T> x, std::span<T> y, summation order) {
  assert(a.is_square() && fits(a.columns(), x.size()) && fits(a.rows(), y.size()));
  return best<T>(order).multiply_dot(a, x.data(), y.data());
}

template <class T>
double residual(const csr_matrix<T>& a, std::span<const T> x, std::span<const T> b, std::span<T> r,
                summation order) {
  assert(fits(a.columns(), x.size()) && fits(a.rows(), b.size()) && fits(a.rows(), r.size()));
  return best<T>(order).residual(a, x.data(), b.data(), r.data());
}

template <class T>
double neumann_term(const csr_matrix<T>& a, std::span<const T> t, std::span<const T> d,
                    std::span<T> x, std::span<T> r, std::span<T> next, summation order) {
  assert(a.is_square() && fits(a.rows(), t.size()) && fits(a.rows(), d.size())
         && fits(a.rows(), x.size()) && fits(a.rows(), r.size()) && fits(a.rows(), next.size()));
  return best<T>(order).neumann_term(a, t.data(), d.data(), x.data(), r.data(), next.data());
}

template <class T>
void multiply_block(const csr_matrix<T>& a, std::size_t width, std::span<const T> x, std::span<T> y,
                    summation order) {
  assert(static_cast<std::size_t>(a.columns()) * width == x.size()
         && static_cast<std::size_t>(a.rows()) * width == y.size());
  best<T>(order).multiply_block(a, width, x.data(), y.data());
}

#  define BASAL_INSTANTIATE(T)                                                                     \
    template void multiply(const csr_matrix<T>&, std::span<const T>, std::span<T>, summation);     \
    template double multiply_dot(const csr_matrix<T>&, std::span<const T>, std::span<T>,           \
                                 summation);                                                       \
    template double residual(const csr_matrix<T>&, std::span<const T>, std::span<const T>,         \
                             std::span<T>, summation);                                             \
    template double neumann_term(const csr_matrix<T>&, std::span<const T>, std::span<const T>,     \
                                 std::span<T>, std::span<T>, std::span<T>, summation);             \
    template void multiply_block(const csr_matrix<T>&, std::size_t, std::span<const T>,            \
                                 std::span<T>, summation);

BASAL_INSTANTIATE(float)
BASAL_INSTANTIATE(double)

} // namespace basal::solver::kernels
#endif
