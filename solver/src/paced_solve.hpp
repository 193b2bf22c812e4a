// A whole solve, some steps at a time, for those who look up in between.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <span>

#include <basal/solver/detail/aligned_array.hpp>
#include <basal/solver/solve_plan.hpp>
#include <basal/solver/solve_result.hpp>
#include <basal/solver/stepper.hpp>

namespace basal::solver::detail {

// The plan's method, and its fallbacks if a method of the router's choice does not converge. How
// often it is interrupted does not matter to the result, which is that of solve(). Belongs to one
// thread at a time; b must outlive it.
template <class T>
class paced_solve {
public:
  // Throws error as stepper does.
  paced_solve(solve_plan<T> plan, std::span<const T> b);

  paced_solve(paced_solve&&) = delete;

  // At most `steps` steps. @returns whether there is more to do. Allocates and throws only between
  // one method and the next.
  bool advance(std::uint64_t steps);

  // Of the attempt that is under way, as step_report tells it.
  double residual() const noexcept {
    return stepper_ ? stepper_->report().residual : result_.residual;
  }

  // Of all attempts.
  std::uint64_t iterations() const noexcept {
    return attempt_.iterations + (stepper_ ? stepper_->steps() : 0);
  }

  // Once, after advance() said that there is nothing more to do.
  solve_result<T> take() noexcept {
    assert(!plan_ && "a solve has a result when there is nothing more to do");
    return std::move(result_);
  }

private:
  void begin();
  void end();

  std::optional<solve_plan<T>> plan_; // of the attempt under way; none after the last
  std::span<const T> b_;
  solve_result<T> result_;  // the best so far, and the story of all
  solve_result<T> attempt_; // the one under way
  aligned_array<std::byte> scratch_;
  std::optional<stepper<T>> stepper_; // writes to the attempt's x
};

extern template class paced_solve<float>;
extern template class paced_solve<double>;

} // namespace basal::solver::detail
