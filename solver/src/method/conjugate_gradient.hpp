// Conjugate gradients with a preconditioner (Hestenes and Stiefel 1952; Saad, "Iterative Methods
// for Sparse Linear Systems", 2nd ed., algorithm 9.1). With Jacobi or none, an iteration reads the
// matrix once and the vectors in three passes.
#pragma once

#include "method/vector_iteration.hpp"

namespace basal::solver::detail {

template <class T>
class conjugate_gradient final : public vector_iteration<T> {
public:
  static constexpr method_facts facts{.name = "conjugate_gradient",
                                      .needs_symmetry = true,
                                      .preconditioned = true,
                                      .factor = factor_kind::cholesky,
                                      .in_blocks = true};

  static std::uint64_t scratch_bytes(const plan_data<T>& p) noexcept {
    return (vector_iteration<T>::vectors + (p.factor ? 3 : 2)) * carver::bytes_for<T>(p.size());
  }

  conjugate_gradient(const problem<T>& p, carver scratch) noexcept
    : vector_iteration<T>(p, scratch),
      direction_(scratch.take<T>(p.x.size())),
      product_(scratch.take<T>(p.x.size())) {
    if (p.plan.factor)
      preconditioned_ = scratch.take<T>(p.x.size());
    first_direction();
  }

  step_report step() noexcept override {
    auto& p = this->problem_;
    const double curvature = p.plan.a.multiply_dot(direction_, product_, this->order());
    const double alpha = scaled_ / curvature;
    if (!(curvature > 0) || !(scaled_ > 0) || !std::isfinite(alpha))
      return this->give_up(state::stalled,
                           "p'Ap or r'Mr is not positive: matrix or preconditioner is not "
                           "positive definite");
    const double scaled_before = scaled_;
    const auto sums = kernels::cg_residual<T>(static_cast<T>(alpha), product_,
                                              p.plan.inverse_diagonal, this->r_, this->order());
    this->set_residual(sums.first);
    if (p.plan.factor) {
      p.plan.factor->apply(this->r_, preconditioned_, this->order());
      scaled_ = kernels::dot<T>(this->r_, preconditioned_, this->order());
    } else {
      scaled_ = sums.second;
    }
    kernels::cg_direction<T>(static_cast<T>(alpha), static_cast<T>(scaled_ / scaled_before),
                             p.plan.inverse_diagonal, p.plan.factor ? preconditioned_ : this->r_,
                             direction_, p.x, this->order());
    const auto report = this->conclude();
    if (this->restarted())
      first_direction();
    return report;
  }

private:
  void first_direction() noexcept {
    const auto& p = this->problem_;
    if (p.plan.factor)
      p.plan.factor->apply(this->r_, direction_, this->order());
    else
      kernels::scale<T>(p.plan.inverse_diagonal, this->r_, direction_);
    scaled_ = kernels::dot<T>(this->r_, direction_, this->order());
  }

  std::span<T> direction_;
  std::span<T> product_;
  std::span<T> preconditioned_;
  double scaled_ = 0; // r'Mr
};

} // namespace basal::solver::detail
