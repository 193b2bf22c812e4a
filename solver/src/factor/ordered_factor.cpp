#include "factor/ordered_factor.hpp"

#include <basal/solver/detail/kernels/triangular.hpp>

namespace basal::solver::detail {

namespace {

template <class T>
kernels::triangle<T> view(const triangle_arrays<T>& a) {
  return {a.row_starts, a.columns, a.values, a.inverse_diagonal};
}

} // namespace

template <class T>
void ordered_factor<T>::apply(std::span<const T> r, std::span<T> z, std::span<T> work,
                              summation order) const noexcept {
  for (std::size_t k = 0; k < work.size(); ++k)
    work[k] = row_scale[k] * r[static_cast<std::size_t>(row_order[k])];
  kernels::solve_lower<T>(view(lower), work, work, order);
  kernels::solve_upper<T>(view(upper), work, order);
  for (std::size_t k = 0; k < work.size(); ++k)
    z[static_cast<std::size_t>(column_order[k])] = column_scale[k] * work[k];
}

template struct ordered_factor<float>;
template struct ordered_factor<double>;

} // namespace basal::solver::detail
