// What Neumann, conjugate gradients and BiCGSTAB share: all of x, its residual by recurrence, and
// a true residual before anything is called converged.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include <basal/solver/kernels/vector.hpp>

#include "method/iteration.hpp"
#include "plan_data.hpp"

namespace basal::solver::detail {

template <class T>
struct problem {
  const plan_data<T>& plan;
  std::span<const T> b;
  std::span<T> x;
  double b_norm; // positive
};

template <class T>
class vector_iteration : public iteration {
public:
  step_report start() const noexcept final {
    return {residual_, watch_.reached(residual_) ? state::converged : state::running};
  }

protected:
  vector_iteration(const problem<T>& p, std::span<T> r) noexcept
    : problem_(p), r_(r), watch_(reachable<T>(p.plan.options.tolerance), facts_of(p.plan.chosen)) {
    true_residual();
    if (!std::isfinite(residual_)) { // a first guess so large that A x overflows
      std::fill(p.x.begin(), p.x.end(), T{0});
      true_residual();
    }
    watch_.start_from(std::max(residual_, 1.0));
  }

  // r = b - A x and its norm.
  void true_residual() noexcept {
    const auto& x = problem_.x;
    if (kernels::dot<T>(x, x, order()) == 0) {
      std::copy(problem_.b.begin(), problem_.b.end(), r_.begin());
      residual_ = 1;
    } else {
      set_residual(problem_.plan.a.residual(x, problem_.b, r_, order()));
    }
  }

  void set_residual(double squared_norm) noexcept {
    last_finite_ = std::isfinite(residual_) ? residual_ : last_finite_;
    residual_ = std::sqrt(squared_norm) / problem_.b_norm;
  }

  // After a step: the report, or a restart (then restarted() is true, and r is exact).
  step_report conclude() noexcept {
    restarted_ = false;
    switch (watch_.judge(residual_)) {
    case state::converged:
      return confirm();
    case state::diverged:
      return give_up(state::diverged, "the residual grows");
    case state::stalled:
      return give_up(state::stalled, "the residual does not get smaller any more");
    case state::running:
    case state::budget_exhausted: // never a judgement
      break;
    }
    return {residual_, state::running};
  }

  step_report give_up(state s, const char* why) noexcept {
    // The iterate may have overflowed before its residual showed it.
    if (!std::isfinite(kernels::dot<T>(problem_.x, problem_.x, order()))) {
      std::fill(problem_.x.begin(), problem_.x.end(), T{0});
      return end(s, 1, why);
    }
    return end(s, std::isfinite(residual_) ? residual_ : last_finite_, why);
  }

  bool restarted() const noexcept {
    return restarted_;
  }

  summation order() const noexcept {
    return problem_.plan.options.order;
  }

  problem<T> problem_;
  std::span<T> r_;
  double residual_ = 1;

private:
  step_report confirm() noexcept {
    true_residual();
    if (watch_.reached(residual_))
      return {residual_, state::converged};
    if (!std::isfinite(residual_))
      return give_up(state::diverged, "the residual overflows");
    if (restarts_++ == max_restarts)
      return give_up(state::stalled, "rounding errors keep the true residual above the tolerance");
    watch_.start_from(std::max(residual_, 1.0));
    restarted_ = true;
    return {residual_, state::running};
  }

  watch watch_;
  double last_finite_ = 1;
  int restarts_ = 0;
  bool restarted_ = false;
};

} // namespace basal::solver::detail
