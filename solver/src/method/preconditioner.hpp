// z is about A^-1 r, by whichever preconditioner the plan has. For methods that need no symmetric
// one.
#pragma once

#include <span>

#include <basal/solver/detail/kernels/vector.hpp>

#include "method/iteration.hpp"
#include "plan_data.hpp"

namespace basal::solver::detail {

template <class T>
class general_preconditioner {
public:
  static std::uint64_t scratch_bytes(const plan_data<T>& p) noexcept {
    return p.ordered ? carver::bytes_for<T>(p.size()) : 0;
  }

  general_preconditioner(const plan_data<T>& p, carver& scratch) noexcept : plan_(p) {
    if (p.ordered)
      work_ = scratch.take<T>(p.size());
  }

  // Allocates nothing. The spans do not overlap.
  void apply(std::span<const T> r, std::span<T> z) const noexcept {
    if (plan_.ordered)
      plan_.ordered->apply(r, z, work_, plan_.options.order);
    else if (plan_.factor)
      plan_.factor->apply(r, z, plan_.options.order);
    else
      kernels::scale<T>(plan_.inverse_diagonal, r, z);
  }

private:
  const plan_data<T>& plan_;
  std::span<T> work_;
};

} // namespace basal::solver::detail
