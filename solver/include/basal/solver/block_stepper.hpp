/// Several right-hand sides of one matrix, in lockstep.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include <basal/solver/detail/kept_residual.hpp>
#include <basal/solver/solve_plan.hpp>
#include <basal/solver/solve_result.hpp>

namespace basal::solver {

/// Solves A X = B for `width` columns at once, so that each step reads the matrix once for all
/// of them. B and X are row-major: entry (i, k) is at i * width + k.
///
/// Each column has its own state; one that ends (by any state) is left alone while the others go
/// on. When all have ended by their recurrences, one more step computes the true residuals: columns
/// that only seemed to have converged go on, and those that failed get the best of their iterates,
/// as from stepper. Contract of threads and memory as for stepper.
template <class T>
class block_stepper {
public:
  static constexpr std::size_t max_width = 16; ///< columns, at most

  /// Do the plan's method and preconditioner work in blocks? (Neumann; conjugate gradients with
  /// Jacobi or without.)
  static bool supports(const solve_plan<T>& plan) noexcept;

  /// Bytes that a block_stepper of `width` columns needs, to be aligned to 64.
  static std::size_t scratch_bytes(const solve_plan<T>& plan, std::size_t width) noexcept;

  /// 1 <= width <= max_width; B and X have width times the size of A numbers; X holds the first
  /// guesses. The plan, B, X and scratch must outlive it. Throws error: dimension_mismatch,
  /// not_finite (naming the column), bad_option.
  block_stepper(const solve_plan<T>& plan, std::size_t width, std::span<const T> b, std::span<T> x,
                std::span<std::byte> scratch);
  block_stepper(solve_plan<T>&&, std::size_t, std::span<const T>, std::span<T>,
                std::span<std::byte>)
    = delete;

  block_stepper(block_stepper&&) = delete;

  /// The largest residual among columns that are still running; `running` while there are any,
  /// after that the first state among columns that is not `converged`, or `converged`.
  step_report step() noexcept;

  /// Ends all columns that are still running, as stepper::finish() does.
  step_report finish() noexcept;

  /// The report of one column.
  const step_report& column(std::size_t k) const noexcept {
    assert(k < width_ && "a column's number is below the width");
    return columns_[k];
  }

  /// Steps that the column took part in.
  std::uint64_t steps(std::size_t k) const noexcept {
    assert(k < width_ && "a column's number is below the width");
    return steps_[k];
  }

private:
  enum class phase : std::uint8_t { iterating, awaiting_check, failed, ended };
  using numbers = std::array<double, max_width>; // one for each column

  std::span<T> part(std::size_t which) const noexcept;
  void begin_columns() noexcept;
  void iterate() noexcept;
  void iterate_neumann() noexcept;
  void iterate_gradient() noexcept;
  void true_residuals() noexcept;
  numbers relative_norms(std::span<const T> r) const noexcept;
  double precise_residual(std::size_t k, double residual, std::span<const T> x) const noexcept;
  void keep_better() noexcept;
  void check() noexcept;
  void settle_failed() noexcept;
  void judge(std::size_t k, double squared) noexcept;
  void clear_recurrence(std::size_t k) noexcept;
  void fail_column(std::size_t k, state s) noexcept;
  bool any(phase p) const noexcept;
  step_report summary() const noexcept;

  const detail::plan_data<T>& data_;
  std::size_t width_;
  std::span<const T> b_;
  std::span<T> x_;
  std::span<T> scratch_;
  bool gradient_;
  double b_norm_[max_width] = {};
  double best_[max_width] = {};
  phase phase_[max_width] = {};
  std::uint8_t restarts_[max_width] = {};
  std::uint64_t since_best_[max_width] = {};
  std::uint64_t steps_[max_width] = {};
  double scaled_[max_width] = {}; // r'Mr of conjugate gradients
  state failure_[max_width] = {}; // of columns in phase::failed
  detail::kept_residual kept_[max_width];
  step_report columns_[max_width];
};

extern template class block_stepper<float>;
extern template class block_stepper<double>;

} // namespace basal::solver
