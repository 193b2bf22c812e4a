// BiCGSTAB (van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992)), preconditioned from the right, so
// that its residual is that of the system. Where the method breaks down it begins again with the
// current residual as its shadow; where it breaks down at once, as it may with a sparse right-hand
// side whose entries the first products only move, with a shadow of random numbers.
#pragma once

#include <basal/solver/detail/random.hpp>

#include "method/preconditioner.hpp"
#include "method/vector_iteration.hpp"

namespace basal::solver::detail {

template <class T>
class bicgstab final : public vector_iteration<T> {
public:
  static constexpr method_facts facts{
    .name = "bicgstab", .preconditioned = true, .factor = factor_kind::lu};

  static std::uint64_t scratch_bytes(const plan_data<T>& p) noexcept {
    return (vector_iteration<T>::vectors + 6) * carver::bytes_for<T>(p.size())
           + general_preconditioner<T>::scratch_bytes(p);
  }

  bicgstab(const problem<T>& p, carver scratch) noexcept
    : vector_iteration<T>(p, scratch),
      shadow_(scratch.take<T>(p.x.size())),
      direction_(scratch.take<T>(p.x.size())),
      scaled_direction_(scratch.take<T>(p.x.size())),
      v_(scratch.take<T>(p.x.size())),
      scaled_s_(scratch.take<T>(p.x.size())),
      t_(scratch.take<T>(p.x.size())),
      preconditioner_(p.plan, scratch) {
    begin();
  }

  step_report step() noexcept override {
    auto& p = this->problem_;
    const auto order = this->order();
    preconditioner_.apply(direction_, scaled_direction_);
    p.plan.a.multiply(scaled_direction_, v_, order);
    const double alpha = rho_ / kernels::dot<T>(shadow_, v_, order);
    if (!std::isfinite(alpha))
      return break_down();
    kernels::axpy<T>(static_cast<T>(-alpha), v_, this->r_, order); // r is s from here on
    preconditioner_.apply(this->r_, scaled_s_);
    p.plan.a.multiply(scaled_s_, t_, order);
    const auto [tt, ts] = kernels::bicgstab_omega<T>(t_, this->r_, order);
    const double omega = tt > 0 ? ts / tt : 0;
    const auto sums
      = kernels::bicgstab_update<T>(static_cast<T>(alpha), static_cast<T>(omega), scaled_direction_,
                                    scaled_s_, t_, shadow_, this->r_, p.x, order);
    this->set_residual(sums.first);
    // If A is singular, x can grow beyond measure in a direction that no residual shows.
    if (!std::isfinite(kernels::dot<T>(p.x, p.x, order)))
      return this->give_up(state::diverged, "x grows beyond measure: A is singular, or almost");
    const double beta = sums.second / rho_ * (alpha / omega);
    rho_ = sums.second;
    const auto report = this->conclude();
    if (report.state != state::running)
      return report;
    if (this->restarted()) {
      begin();
      return report;
    }
    // Almost orthogonal to its shadow, r would have to be divided by what is only rounding.
    const double angle = std::abs(rho_) / (this->residual_ * p.b_norm * shadow_norm_);
    if (!std::isfinite(beta) || !(angle > std::numeric_limits<T>::epsilon()))
      return break_down();
    progressed_ = true;
    kernels::bicgstab_direction<T>(static_cast<T>(beta), static_cast<T>(omega), this->r_, v_,
                                   direction_, order);
    return report;
  }

private:
  enum class shadow_of : bool { residual, dice };

  void begin(shadow_of what = shadow_of::residual) noexcept {
    std::copy(this->r_.begin(), this->r_.end(), direction_.begin());
    if (what == shadow_of::residual) {
      std::copy(this->r_.begin(), this->r_.end(), shadow_.begin());
    } else {
      walk_numbers numbers{0, 0};
      std::generate(shadow_.begin(), shadow_.end(),
                    [&numbers] { return static_cast<T>(numbers.next() - 0.5); });
    }
    rho_ = kernels::dot<T>(this->r_, shadow_, this->order());
    shadow_norm_ = std::sqrt(kernels::dot<T>(shadow_, shadow_, this->order()));
    shadow_kind_ = what;
    progressed_ = false;
  }

  step_report break_down() noexcept {
    if (!progressed_ && shadow_kind_ == shadow_of::dice)
      return this->give_up(state::stalled, "BiCGSTAB breaks down: r'Ar or (Ar)'(Ar) is 0");
    this->true_residual();
    begin(progressed_ ? shadow_of::residual : shadow_of::dice);
    return {this->residual_, state::running};
  }

  std::span<T> shadow_;
  std::span<T> direction_;
  std::span<T> scaled_direction_;
  std::span<T> v_;
  std::span<T> scaled_s_;
  std::span<T> t_;
  general_preconditioner<T> preconditioner_;
  double rho_ = 0;
  double shadow_norm_ = 0;
  shadow_of shadow_kind_ = shadow_of::residual;
  bool progressed_ = false; // since the shadow was chosen
};

} // namespace basal::solver::detail
