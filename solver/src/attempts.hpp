// The better of several attempts at one system.
#pragma once

#include <utility>

#include <basal/solver/solve_result.hpp>

namespace basal::solver::detail {

// The answer is the attempt that came closest; state, steps and story are those of the whole, which
// the last attempt carries.
template <class T>
void take_better(solve_result<T>& so_far, solve_result<T>&& attempt) {
  if (attempt.state != state::converged && !so_far.x.empty()
      && so_far.residual <= attempt.residual) {
    std::swap(attempt.x, so_far.x);
    attempt.residual = so_far.residual;
    attempt.half_width = so_far.half_width;
    attempt.chosen = so_far.chosen;
    attempt.preconditioner = so_far.preconditioner;
  }
  so_far = std::move(attempt);
}

} // namespace basal::solver::detail
