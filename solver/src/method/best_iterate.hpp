// The best x that a solve came across, for one that does not converge. Costs one product for the
// last x, and one for the copy if that may be better.
#pragma once

#include <algorithm>
#include <limits>
#include <span>

#include <basal/solver/detail/kept_residual.hpp>

namespace basal::solver::detail {

template <class T>
class best_iterate {
public:
  // `room` is as long as x.
  explicit best_iterate(std::span<T> room) noexcept : copy_(room) {
  }

  // Before the first step; the residual is true.
  void begin(std::span<const T> x, double residual) noexcept {
    if (kept_.begin(residual))
      std::copy(x.begin(), x.end(), copy_.begin());
  }

  // After a step; the residual is by recurrence.
  void offer(std::span<const T> x, double residual) noexcept {
    if (kept_.offer(residual, std::numeric_limits<T>::epsilon()))
      std::copy(x.begin(), x.end(), copy_.begin());
  }

  // The recurrence has begun again from a true residual.
  void restarted() noexcept {
    kept_.restarted();
  }

  // Leaves in x, whose true residual is `last` (infinite: x is of no use), whichever of x, the
  // copy and zeros has the smallest one, and returns that. `measure` returns the true residual of
  // what is in x, infinite if that is of no use.
  template <class Measure>
  double settle(std::span<T> x, double last, Measure measure) noexcept {
    if (kept_.may_beat(last)) {
      std::swap_ranges(x.begin(), x.end(), copy_.begin());
      const double copys = kept_.exact() ? kept_.estimate() : measure();
      if (copys <= last)
        last = copys;
      else
        std::swap_ranges(x.begin(), x.end(), copy_.begin());
    }
    if (last <= 1)
      return last;
    std::fill(x.begin(), x.end(), T{0});
    return 1;
  }

private:
  std::span<T> copy_;
  kept_residual kept_;
};

} // namespace basal::solver::detail
