// The Jacobi-preconditioned Neumann series, x = sum of H^k D^-1 b with H = I - D^-1 A: a step adds
// one term t, and one pass over the matrix updates x, the residual r -= A t and the next term
// D^-1 r.
#pragma once

#include "method/vector_iteration.hpp"

namespace basal::solver::detail {

template <class T>
class neumann final : public vector_iteration<T> {
public:
  static constexpr method_facts facts{.name = "neumann",
                                      .divides_by_diagonal = true,
                                      .needs_contraction = true,
                                      .in_blocks = true,
                                      .series = true,
                                      .growth = 10,
                                      .patience = 100};

  static std::uint64_t scratch_bytes(const plan_data<T>& p) noexcept {
    return (vector_iteration<T>::vectors + 2) * carver::bytes_for<T>(p.size());
  }

  neumann(const problem<T>& p, carver scratch) noexcept
    : vector_iteration<T>(p, scratch),
      term_(scratch.take<T>(p.x.size())),
      next_(scratch.take<T>(p.x.size())) {
    first_term();
  }

  step_report step() noexcept override {
    auto& p = this->problem_;
    this->set_residual(
      p.plan.a.neumann_term(term_, p.plan.inverse_diagonal, p.x, this->r_, next_, this->order()));
    std::swap(term_, next_);
    const auto report = this->conclude();
    if (this->restarted())
      first_term();
    return report;
  }

private:
  void first_term() noexcept {
    kernels::scale<T>(this->problem_.plan.inverse_diagonal, this->r_, term_);
  }

  std::span<T> term_;
  std::span<T> next_;
};

} // namespace basal::solver::detail
