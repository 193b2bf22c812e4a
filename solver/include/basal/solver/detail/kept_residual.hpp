// When a copy of x is worth making, and what it is worth.
//
// A solve that does not converge gives back the best of what it came across. Recurrences say how
// good an iterate is only as long as they are exact, and a true residual costs a product. So a copy
// is kept by what the recurrence says, and true residuals decide at the end.
#pragma once

#include <cstdint>

namespace basal::solver::detail {

/// The residual of one solve's copy of x. Residuals are relative, those of zeros are 1.
class kept_residual {
public:
  /// Before the first step; the residual is true. @returns whether to copy the first guess: one
  /// that is better than zeros stays the copy, since what overwrites it might turn out worse.
  bool begin(double residual) noexcept {
    guess_ = residual < 1;
    copied_ = guess_;
    estimate_ = guess_ ? residual : 1;
    drift_ = 0;
    return guess_;
  }

  /// After a step; the residual is by recurrence. @returns whether to copy x: where its residual is
  /// half of the copy's, and at most every fourth step, so that a step costs half a pass over a
  /// vector more at most.
  bool offer(double residual, double epsilon) noexcept {
    // A step leaves a rounding error of about its residual in x, of which the recurrence knows
    // nothing.
    drift_ += residual * epsilon;
    if (++since_copy_ < steps_between_copies || guess_ || !(2 * (residual + drift_) <= estimate_))
      return false;
    estimate_ = residual + drift_;
    copied_ = true;
    since_copy_ = 0;
    return true;
  }

  /// The recurrence has begun again from a true residual.
  void restarted() noexcept {
    drift_ = 0;
  }

  /// Could the copy be better than an x with this true residual?
  bool may_beat(double residual) const noexcept {
    return copied_ && !(residual <= estimate_);
  }

  /// Is estimate() the copy's true residual?
  bool exact() const noexcept {
    return guess_;
  }

  double estimate() const noexcept {
    return estimate_;
  }

private:
  // A guess: within it a method that converges improves by less than what matters to whoever takes
  // a result that has not converged.
  static constexpr std::uint32_t steps_between_copies = 4;

  double estimate_ = 1;
  double drift_ = 0; // by which the recurrence may be wrong by now
  std::uint32_t since_copy_ = steps_between_copies;
  bool guess_ = false;
  bool copied_ = false;
};

} // namespace basal::solver::detail
