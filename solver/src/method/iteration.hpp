// The interface of a method, and two parts that all methods need: scratch space cut into arrays,
// and a judgement of the residual.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include <basal/solver/detail/aligned_array.hpp>
#include <basal/solver/solve_result.hpp>

#include "method/facts.hpp"

namespace basal::solver::detail {

// A method between its steps. Destroyed in place by the stepper that holds it.
class iteration {
public:
  virtual ~iteration() = default;

  // Allocates nothing, takes no lock. Not called again after a state that is not `running`.
  virtual step_report step() noexcept = 0;

  // Before the first step; converged if the first guess is good enough.
  virtual step_report start() const noexcept = 0;

  // Ends a running method where its caller stops it: leaves in x the best that it came across.
  // Converged if that turns out to suffice, else budget_exhausted. Costs two products at most, and
  // where these are not precise enough as many that are (true_residual.hpp).
  virtual step_report finish() noexcept = 0;

  virtual double half_width() const noexcept {
    return 0;
  }

  virtual std::uint64_t walks() const noexcept {
    return 0;
  }

  std::string_view reason() const noexcept {
    return reason_;
  }

protected:
  step_report end(state s, double residual, const char* why) noexcept {
    reason_ = why;
    return {residual, s};
  }

private:
  const char* reason_ = "";
};

// Cuts scratch memory into aligned arrays.
class carver {
public:
  explicit carver(std::span<std::byte> memory) noexcept : memory_(memory) {
    assert(reinterpret_cast<std::uintptr_t>(memory.data()) % alignment == 0);
  }

  template <class U>
  std::span<U> take(std::size_t count) noexcept {
    const auto bytes = static_cast<std::size_t>(bytes_for<U>(count));
    assert(bytes <= memory_.size());
    const std::span<U> result{reinterpret_cast<U*>(memory_.data()), count};
    memory_ = memory_.subspan(bytes);
    return result;
  }

  // 64 bits: the sum over the vectors of a method may exceed an address space of 4 GiB.
  template <class U>
  static constexpr std::uint64_t bytes_for(std::size_t count) noexcept {
    return (std::uint64_t{count} * sizeof(U) + alignment - 1) / alignment * alignment;
  }

private:
  std::span<std::byte> memory_;
};

// How fine a residual can get in T.
template <class T>
double reachable(double tolerance) noexcept {
  return std::max(tolerance, 4.0 * std::numeric_limits<T>::epsilon());
}

// A recurrence drifts away from the true residual. When it says "converged" and the true one does
// not, the method starts again from there, this often.
inline constexpr int max_restarts = 3;

// Watches the residuals of one solve.
class watch {
public:
  watch(double tolerance, const method_facts& method) noexcept
    : tolerance_(tolerance), growth_(method.growth), patience_(method.patience) {
  }

  state judge(double residual) noexcept {
    if (!std::isfinite(residual) || residual > growth_ * best_)
      return state::diverged;
    if (residual <= tolerance_)
      return state::converged;
    if (residual < best_) {
      best_ = residual;
      since_best_ = 0;
    } else if (++since_best_ >= patience_) {
      return state::stalled;
    }
    return state::running;
  }

  bool reached(double residual) const noexcept {
    return residual <= tolerance_;
  }

  void start_from(double residual) noexcept {
    best_ = residual;
    since_best_ = 0;
  }

private:
  double tolerance_;
  double growth_;
  std::uint64_t patience_;
  double best_ = 1;
  std::uint64_t since_best_ = 0;
};

} // namespace basal::solver::detail
