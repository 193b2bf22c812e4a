/// One solve, one step at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <basal/solver/solve_plan.hpp>
#include <basal/solver/solve_result.hpp>

namespace basal::solver {

namespace detail {
class iteration;
}

/// One right-hand side on its way to a solution, by whichever method its plan chose.
///
/// The constructor checks; step() does one iteration (one term, one batch of walks or of
/// pushes), allocates nothing, takes no lock, starts no work elsewhere and does not throw. It
/// belongs to one thread at a time. Between steps x holds the current, finite iterate.
/// The plan, b, x and scratch must outlive it.
template <class T>
class stepper {
public:
  /// x holds the first guess (zeros are cheapest; with options.entry it is ignored, and zeros
  /// replace one so large that A x overflows).
  /// `scratch` has at least plan.scratch_bytes() bytes and is aligned to 64; it may hold
  /// anything. Throws error: dimension_mismatch, not_finite.
  stepper(const solve_plan<T>& plan, std::span<const T> b, std::span<T> x,
          std::span<std::byte> scratch);
  stepper(solve_plan<T>&&, std::span<const T>, std::span<T>, std::span<std::byte>) = delete;

  stepper(stepper&&) = delete;
  ~stepper();

  /// After the report's state is no longer `running`, further calls repeat it. The iteration
  /// limit is not looked at here: that is for the loop around it.
  step_report step() noexcept;

  /// Ends a solve that is still running, where the caller does not want to go on: x is then the
  /// best iterate that was kept, zeros if none is better, and the report has its true residual,
  /// with the state budget_exhausted, or converged if that residual suffices. Costs two products
  /// at most, or, where rounding errors may decide, two in twice the precision, which take as long
  /// as 3 to 15 each; so may the step that ends a solve. Of a solve that has ended it returns the
  /// report.
  step_report finish() noexcept;

  /// The last report; before the first step that of the first guess.
  const step_report& report() const noexcept {
    return report_;
  }

  /// Calls of step() that did an iteration.
  std::uint64_t steps() const noexcept {
    return steps_;
  }

  /// Why it ended the way it did; empty while running and when converged.
  std::string_view detail() const noexcept;

  /// One entry: its interval is x[0] +- half_width().
  double half_width() const noexcept;

  /// Random walks finished; 0 for the other methods.
  std::uint64_t walks() const noexcept;

private:
  // Room for the largest of the methods, so that a stepper allocates nothing.
  static constexpr std::size_t method_bytes = 512;

  void extract() noexcept;

  // Not a copy of the plan: solves on several threads would pass its count of references around.
  const detail::plan_data<T>& data_;
  std::span<T> x_;
  std::span<T> full_; // all of x, where one entry is wanted and the method computes all
  step_report report_;
  std::uint64_t steps_ = 0;
  detail::iteration* method_ = nullptr; // in storage_; null if there is nothing to do
  alignas(std::max_align_t) std::byte storage_[method_bytes];
};

extern template class stepper<float>;
extern template class stepper<double>;

} // namespace basal::solver
