// The part that Neumann, conjugate gradients and BiCGSTAB share: all of x, its residual by
// recurrence, a true residual before a result is called converged, and the best x where none is.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include <basal/solver/detail/kernels/vector.hpp>

#include "method/best_iterate.hpp"
#include "method/iteration.hpp"
#include "plan_data.hpp"
#include "portable.hpp"
#include "true_residual.hpp"

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

  step_report finish() noexcept final {
    return give_up(state::budget_exhausted, "");
  }

protected:
  // Numbers of scratch memory, as many times the size of x, that are taken here.
  static constexpr std::size_t vectors = 2;

  vector_iteration(const problem<T>& p, carver& scratch) noexcept
    : problem_(p),
      r_(scratch.take<T>(p.x.size())),
      watch_(reachable<T>(p.plan.options.tolerance), facts_of(p.plan.chosen)),
      best_(scratch.take<T>(p.x.size())) {
    true_residual();
    if (!std::isfinite(residual_)) { // a first guess so large that A x overflows
      std::fill(p.x.begin(), p.x.end(), T{0});
      true_residual();
    }
    best_.begin(p.x, residual_);
    watch_.start_from(std::max(residual_, 1.0));
  }

  // r = b - A x and its norm.
  void true_residual() noexcept {
    const auto& x = problem_.x;
    // Squares of small numbers vanish, hence the second look.
    if (kernels::dot<T>(x, x, order()) == 0 && all_of(x, [](T v) { return v == 0; })) {
      std::copy(problem_.b.begin(), problem_.b.end(), r_.begin());
      residual_ = 1;
    } else {
      residual_ = detail::true_residual<T>(problem_.plan, problem_.b_norm, x, problem_.b, r_);
    }
    best_.restarted();
    true_ = true;
  }

  // By recurrence, of an x that has changed.
  void set_residual(double squared_norm) noexcept {
    residual_ = std::sqrt(squared_norm) / problem_.b_norm;
    true_ = false;
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
    best_.offer(problem_.x, residual_);
    return {residual_, state::running};
  }

  // Ends with the best iterate and its true residual, which may turn out to suffice.
  step_report give_up(state s, const char* why) noexcept {
    const auto measure = [this] {
      if (!true_)
        true_residual();
      // If A has a column of zeros, no residual shows that x has overflowed.
      const bool usable = std::isfinite(residual_)
                          && std::isfinite(kernels::dot<T>(problem_.x, problem_.x, order()));
      return usable ? residual_ : std::numeric_limits<double>::infinity();
    };
    const double last = measure();
    true_ = false;
    residual_ = best_.settle(problem_.x, last, measure);
    return watch_.reached(residual_) ? step_report{residual_, state::converged}
                                     : end(s, residual_, why);
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
    if (!true_)
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
  best_iterate<T> best_;
  int restarts_ = 0;
  bool restarted_ = false;
  bool true_ = false; // residual_ has been computed from x as it is
};

} // namespace basal::solver::detail
