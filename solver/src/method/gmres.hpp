// GMRES with restarts (Saad and Schultz, SIAM J. Sci. Stat. Comput. 7 (1986)), preconditioned from
// the right, so that its residual is that of the system; it never rises.
//
// x is moved in every step, as DQGMRES does (Saad and Wu, Numer. Linear Algebra Appl. 3 (1996),
// here without truncation), and not once a cycle: a solve may be looked at or end after any step.
// The price is a second set of vectors.
#pragma once

#include "method/preconditioner.hpp"
#include "method/vector_iteration.hpp"
#include "portable_math.hpp"

namespace basal::solver::detail {

template <class T>
class gmres final : public vector_iteration<T> {
public:
  static constexpr method_facts facts{
    .name = "gmres", .preconditioned = true, .factor = factor_kind::lu};

  // Steps until the basis is thrown away. With a preconditioner that is worth its memory a solve
  // takes fewer.
  static constexpr std::size_t cycle = 20;

  static std::uint64_t scratch_bytes(const plan_data<T>& p) noexcept {
    return (vector_iteration<T>::vectors + 2 * cycle + 2) * carver::bytes_for<T>(p.size())
           + carver::bytes_for<double>(3 * cycle + 1) + general_preconditioner<T>::scratch_bytes(p);
  }

  gmres(const problem<T>& p, carver scratch) noexcept
    : vector_iteration<T>(p, scratch),
      stride_(static_cast<std::size_t>(carver::bytes_for<T>(p.x.size())) / sizeof(T)),
      basis_(scratch.take<T>((cycle + 1) * stride_)),
      directions_(scratch.take<T>(cycle * stride_)),
      preconditioned_(scratch.take<T>(p.x.size())),
      numbers_(scratch.take<double>(3 * cycle + 1)),
      preconditioner_(p.plan, scratch) {
    begin();
  }

  step_report step() noexcept override {
    auto& p = this->problem_;
    const auto order = this->order();
    const auto next = basis(step_ + 1);
    preconditioner_.apply(basis(step_), preconditioned_);
    p.plan.a.multiply(preconditioned_, next, order);
    const double whole = norm(next);
    const double rest = orthogonalise(next, whole);
    const double diagonal = rotate(rest);
    // A maps what is left of the basis to almost nothing: no multiple of it explains the residual.
    if (!(diagonal > std::numeric_limits<T>::epsilon() * whole) || !std::isfinite(whole))
      return this->give_up(state::stalled, "GMRES breaks down: A or its preconditioner is "
                                           "singular, or almost");
    const auto direction = directions_.subspan(step_ * stride_, p.x.size());
    std::copy(preconditioned_.begin(), preconditioned_.end(), direction.begin());
    for (std::size_t i = 0; i < step_; ++i)
      kernels::axpy<T>(static_cast<T>(-column_[i]), directions_.subspan(i * stride_, p.x.size()),
                       direction, order);
    scale(direction, 1 / diagonal);
    kernels::axpy<T>(static_cast<T>(cosines_[step_] * left_), direction, p.x, order);
    left_ *= -sines_[step_];
    this->set_residual(left_ * left_);
    const auto report = this->conclude();
    if (report.state != state::running)
      return report;
    if (this->restarted()) {
      begin();
      return report;
    }
    if (++step_ < cycle && rest > std::numeric_limits<T>::epsilon() * whole) {
      scale(next, 1 / rest);
      return report;
    }
    return next_cycle();
  }

private:
  // A cycle that leaves more of the residual than this will not be followed by better ones.
  static constexpr double slowest_cycle = 0.9;

  std::span<T> basis(std::size_t i) const noexcept {
    return basis_.subspan(i * stride_, this->r_.size());
  }

  double norm(std::span<const T> v) const noexcept {
    return std::sqrt(kernels::dot<T>(v, v, this->order()));
  }

  static void scale(std::span<T> v, double by) noexcept {
    for (T& x : v)
      x = static_cast<T>(x * by);
  }

  // Takes the basis out of `v`, which is `whole` long, and returns what is left of its length. A
  // second time if much was taken: "twice is enough" (Kahan; Giraud et al., Numer. Math. 101
  // (2005)).
  double orthogonalise(std::span<T> v, double whole) noexcept {
    std::fill(column_, column_ + step_ + 1, 0.0);
    double before = whole;
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t i = 0; i <= step_; ++i) {
        const double part = kernels::dot<T>(v, basis(i), this->order());
        kernels::axpy<T>(static_cast<T>(-part), basis(i), v, this->order());
        column_[i] += part;
      }
      const double rest = norm(v);
      if (rest > 0.7 * before)
        return rest;
      before = rest;
    }
    return before;
  }

  // The new column of the Hessenberg matrix becomes one of R, whose diagonal element is returned.
  double rotate(double below) noexcept {
    for (std::size_t i = 0; i < step_; ++i) {
      const double upper = cosines_[i] * column_[i] + sines_[i] * column_[i + 1];
      column_[i + 1] = cosines_[i] * column_[i + 1] - sines_[i] * column_[i];
      column_[i] = upper;
    }
    const double diagonal = portable_hypot(column_[step_], below);
    cosines_[step_] = column_[step_] / diagonal;
    sines_[step_] = below / diagonal;
    return diagonal;
  }

  // From r, which must be exact.
  void begin() noexcept {
    left_ = this->residual_ * this->problem_.b_norm;
    cycle_began_ = this->residual_;
    step_ = 0;
    const auto first = basis(0);
    std::copy(this->r_.begin(), this->r_.end(), first.begin());
    if (left_ > 0)
      scale(first, 1 / left_);
  }

  step_report next_cycle() noexcept {
    this->true_residual();
    if (!(this->residual_ < slowest_cycle * cycle_began_))
      return this->give_up(state::stalled, "a cycle of GMRES hardly makes the residual smaller");
    begin();
    return {this->residual_, state::running};
  }

  std::size_t stride_; // numbers from one vector to the next
  std::span<T> basis_;
  std::span<T> directions_;
  std::span<T> preconditioned_;
  std::span<double> numbers_;
  double* column_ = numbers_.data(); // of R, without its diagonal element
  double* cosines_ = column_ + cycle + 1;
  double* sines_ = cosines_ + cycle;
  general_preconditioner<T> preconditioner_;
  std::size_t step_ = 0;   // of this cycle
  double left_ = 0;        // the length of the residual, signed
  double cycle_began_ = 1; // with this residual
};

} // namespace basal::solver::detail
