// A complete factor and refinement: x += F^-1 r until r is small enough. One step is the direct
// solution, the others make up for what rounding did to the factor (N. J. Higham, "Accuracy and
// Stability of Numerical Algorithms", 2nd ed., chapter 12).
#pragma once

#include "method/vector_iteration.hpp"

namespace basal::solver::detail {

template <class T>
class direct final : public vector_iteration<T> {
public:
  // Refinement that makes nothing better twice will not do so later.
  static constexpr method_facts facts{.name = "direct", .complete_factor = true, .patience = 2};

  static std::uint64_t scratch_bytes(const plan_data<T>& p) noexcept {
    return (vector_iteration<T>::vectors + 2) * carver::bytes_for<T>(p.size());
  }

  direct(const problem<T>& p, carver scratch) noexcept
    : vector_iteration<T>(p, scratch),
      correction_(scratch.take<T>(p.x.size())),
      work_(scratch.take<T>(p.x.size())) {
  }

  step_report step() noexcept override {
    const auto& p = this->problem_;
    p.plan.ordered->apply(this->r_, correction_, work_, this->order());
    kernels::axpy<T>(1, correction_, p.x, this->order());
    this->true_residual();
    return this->conclude();
  }

private:
  std::span<T> correction_;
  std::span<T> work_;
};

} // namespace basal::solver::detail
