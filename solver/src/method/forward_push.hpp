// Forward push (Andersen, Chung, Lang, "Local graph partitioning using PageRank vectors", FOCS
// 2006), for any matrix whose columns dominate: x_i += r_i / a_ii, and r loses that multiple of
// column i. Work stays where b and its surroundings are.
//
// Deviation: the threshold begins high and sinks tenfold whenever nobody exceeds it, so that large
// residuals are pushed before small ones; and it ends by the 2-norm of the residual.
#pragma once

#include "method/best_iterate.hpp"
#include "method/push_queue.hpp"
#include "method/vector_iteration.hpp"
#include "true_residual.hpp"

namespace basal::solver::detail {

template <class T>
class forward_push final : public iteration {
public:
  static constexpr method_facts facts{.name = "forward_push",
                                      .reading = reading::columns,
                                      .divides_by_diagonal = true,
                                      .needs_dominance = dominance::columns};

  static std::uint64_t scratch_bytes(const plan_data<T>& p) noexcept {
    return 2 * carver::bytes_for<T>(p.size()) + push_queue::scratch_bytes(p.size());
  }

  forward_push(const problem<T>& p, carver scratch) noexcept
    : problem_(p),
      tolerance_(reachable<T>(p.plan.options.tolerance)),
      r_(scratch.take<T>(p.x.size())),
      best_(scratch.take<T>(p.x.size())),
      queue_(p.x.size(), scratch) {
    measure();
    if (!std::isfinite(residual_)) { // a first guess so large that A x overflows
      std::fill(p.x.begin(), p.x.end(), T{0});
      measure();
    }
    best_.begin(p.x, residual_);
    // If nobody exceeds the last threshold, the 2-norm is below the tolerance.
    last_threshold_ = tolerance_ * p.b_norm / std::sqrt(static_cast<double>(p.x.size())) / 2;
    threshold_ = 0;
    for (const T x : r_)
      threshold_ = std::max(threshold_, std::abs(static_cast<double>(x)));
    sink();
  }

  step_report start() const noexcept override {
    return {residual_, residual_ <= tolerance_ ? state::converged : state::running};
  }

  step_report finish() noexcept override {
    return give_up(state::budget_exhausted, "");
  }

  step_report step() noexcept override {
    for (int pushed = 0; pushed < pushes_per_step; ++pushed) {
      while (queue_.empty()) {
        if (threshold_ <= last_threshold_)
          return conclude();
        sink();
      }
      push(queue_.pop());
    }
    pushes_since_measured_ += pushes_per_step;
    if (pushes_since_measured_ >= r_.size())
      track();
    return std::isfinite(residual_) ? step_report{residual_, state::running} : conclude();
  }

private:
  static constexpr int pushes_per_step = 256;

  void push(index_type i) noexcept {
    const auto& columns = *problem_.plan.transposed;
    auto& r = r_[static_cast<std::size_t>(i)];
    const T amount = r * problem_.plan.inverse_diagonal[static_cast<std::size_t>(i)];
    problem_.x[static_cast<std::size_t>(i)] += amount;
    const auto rows = columns.row_columns(i);
    const auto values = columns.row_values(i);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      auto& changed = r_[static_cast<std::size_t>(rows[k])];
      changed -= amount * values[k];
      if (rows[k] != i && std::abs(changed) > threshold_)
        queue_.push(rows[k]);
    }
    r = 0; // the remainder by division and product is rounding
  }

  void sink() noexcept {
    threshold_ = std::max(threshold_ / 10, last_threshold_);
    for (std::size_t i = 0; i < r_.size(); ++i) {
      if (std::abs(r_[i]) > threshold_)
        queue_.push(static_cast<index_type>(i));
    }
    track();
  }

  // The norm of the residual as pushes have changed it: costs as much as n pushes, and so is
  // looked at as rarely.
  void track() noexcept {
    pushes_since_measured_ = 0;
    residual_ = std::sqrt(kernels::dot<T>(r_, r_, problem_.plan.options.order)) / problem_.b_norm;
    best_.offer(problem_.x, residual_);
  }

  void measure() noexcept {
    residual_ = true_residual<T>(problem_.plan, problem_.b_norm, problem_.x, problem_.b, r_);
  }

  step_report conclude() noexcept {
    measure();
    if (residual_ <= tolerance_)
      return {residual_, state::converged};
    if (std::isfinite(residual_) && restarts_++ < 3) {
      threshold_ = last_threshold_;
      sink();
      return {residual_, state::running};
    }
    if (std::isfinite(residual_))
      return give_up(state::stalled, "rounding errors keep the true residual above the tolerance");
    return give_up(state::diverged, "the residual overflows");
  }

  step_report give_up(state s, const char* why) noexcept {
    const auto usable = [this] {
      measure();
      return std::isfinite(residual_) ? residual_ : std::numeric_limits<double>::infinity();
    };
    const double last = usable();
    residual_ = best_.settle(problem_.x, last, usable);
    return residual_ <= tolerance_ ? step_report{residual_, state::converged}
                                   : end(s, residual_, why);
  }

  problem<T> problem_;
  double tolerance_;
  std::span<T> r_;
  best_iterate<T> best_;
  push_queue queue_;
  double threshold_;
  double last_threshold_;
  double residual_ = 1;
  std::size_t pushes_since_measured_ = 0;
  int restarts_ = 0;
};

} // namespace basal::solver::detail
