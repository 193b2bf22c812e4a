// One entry with a certain bound: entry_push until the bound is tight enough.
#pragma once

#include "method/entry_push.hpp"

namespace basal::solver::detail {

template <class T>
class backward_push final : public iteration {
public:
  static constexpr method_facts facts{.name = "backward_push",
                                      .reading = reading::walks,
                                      .divides_by_diagonal = true,
                                      .needs_dominance = dominance::rows,
                                      .one_entry = true};

  static std::uint64_t scratch_bytes(const plan_data<T>& p) noexcept {
    return entry_push<T>::scratch_bytes(p.size());
  }

  backward_push(const problem<T>& p, carver scratch) noexcept
    : problem_(p), bound_(solution_bound(p)), half_width_(bound_), push_(p, scratch) {
    p.x[0] = 0;
  }

  step_report start() const noexcept override {
    return {1, bound_ == 0 ? state::converged : state::running};
  }

  step_report step() noexcept override {
    // Summing up the residual costs n: as many pushes pay for it.
    const bool more = push_.run(static_cast<int>(std::max<std::size_t>(problem_.b.size(), 64)));
    const double mass = push_.mass();
    const double estimate = push_.estimate();
    half_width_ = mass * bound_ + push_.rounding(bound_, estimate);
    problem_.x[0] = static_cast<T>(estimate);
    relative_ = std::min(1.0, half_width_ / std::abs(estimate));
    if (relative_ <= reachable<T>(problem_.plan.options.tolerance))
      return {relative_, state::converged};
    if (!more || mass < push_.least_mass)
      return end(state::stalled, relative_, push_.too_wide);
    return {relative_, state::running};
  }

  step_report finish() noexcept override {
    return {relative_, state::budget_exhausted};
  }

  double half_width() const noexcept override {
    return half_width_;
  }

private:
  problem<T> problem_;
  double bound_;
  double half_width_;
  double relative_ = 1;
  entry_push<T> push_;
};

} // namespace basal::solver::detail
