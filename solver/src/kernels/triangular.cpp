#include <basal/solver/detail/kernels/triangular.hpp>

#include <cassert>
#include <cstddef>
#include <type_traits>

#include "kernels/tables.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/triangular.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace basal::solver::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// One row: scalar arithmetic, of Highway only for its fused multiply-add, which halves the chain
// from row to row.
template <bool Fused, class T>
HWY_INLINE T solve_row(const triangle<T>& m, std::size_t row, T right, const T* z) {
  const hn::CappedTag<T, 1> d;
  auto sum = hn::Set(d, right);
  if (!m.inverse_diagonal.empty())
    sum = hn::Mul(sum, hn::Set(d, m.inverse_diagonal[row]));
  const index_type* columns = m.columns.data();
  const T* values = m.values.data();
  for (index_type k = m.row_starts[row]; k < m.row_starts[row + 1]; ++k) {
    const auto factor = hn::Set(d, values[k]);
    const auto known = hn::Set(d, z[columns[k]]);
    if constexpr (Fused)
      sum = hn::NegMulAdd(factor, known, sum);
    else
      sum = hn::Sub(sum, hn::Mul(factor, known));
  }
  return hn::GetLane(sum);
}

template <bool Fused, class T>
void lower(const triangle<T>& m, const T* r, T* z) {
  const std::size_t rows = m.row_starts.size() - 1;
  for (std::size_t i = 0; i < rows; ++i)
    z[i] = solve_row<Fused>(m, i, r[i], z);
}

template <bool Fused, class T>
void upper(const triangle<T>& m, T* z) {
  for (std::size_t i = m.row_starts.size() - 1; i-- > 0;)
    z[i] = solve_row<Fused>(m, i, z[i], z);
}

template <bool Fused, class T>
constexpr triangular_table<T> triangular_kernels{lower<Fused, T>, upper<Fused, T>};

BASAL_KERNEL_TABLES(triangular)

} // namespace basal::solver::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace basal::solver::kernels {

namespace {

BASAL_BEST_KERNELS(triangular)

} // namespace

template <class T>
void solve_lower(const triangle<T>& lower, std::span<const T> r, std::span<T> z, summation order) {
  assert(lower.row_starts.size() == z.size() + 1 && r.size() == z.size());
  best<T>(order).lower(lower, r.data(), z.data());
}

template <class T>
void solve_upper(const triangle<T>& upper, std::span<T> z, summation order) {
  assert(upper.row_starts.size() == z.size() + 1);
  best<T>(order).upper(upper, z.data());
}

#  define BASAL_INSTANTIATE(T)                                                                     \
    template void solve_lower(const triangle<T>&, std::span<const T>, std::span<T>, summation);    \
    template void solve_upper(const triangle<T>&, std::span<T>, summation);

BASAL_INSTANTIATE(float)
BASAL_INSTANTIATE(double)

} // namespace basal::solver::kernels
#endif
