#include <basal/solver/block_stepper.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <basal/solver/detail/kernels/block.hpp>
#include <basal/solver/detail/kernels/product.hpp>
#include <basal/solver/errors.hpp>

#include "method/facts.hpp"
#include "method/iteration.hpp"
#include "plan_data.hpp"
#include "right_hand_side.hpp"
#include "squares.hpp"
#include "true_residual.hpp"

namespace basal::solver {

namespace {

// The 2-norm of each column, checked as checked_norm does.
template <class T>
void column_norms(std::span<const T> v, std::size_t width, const char* name, double* norms) {
  std::array<double, block_stepper<T>::max_width> ones;
  ones.fill(1);
  detail::column_squares<T>(v, width, ones.data(), norms);
  for (std::size_t k = 0; k < width; ++k) {
    if (detail::has_all_digits<T>(norms[k])) [[likely]] {
      norms[k] = std::sqrt(norms[k]);
      continue;
    }
    std::vector<T> column;
    for (std::size_t i = k; i < v.size(); i += width)
      column.push_back(v[i]);
    const auto label = std::string{name} + ", column " + std::to_string(k);
    norms[k] = detail::checked_norm<T>(column, label.c_str());
  }
}

} // namespace

template <class T>
bool block_stepper<T>::supports(const solve_plan<T>& plan) noexcept {
  const auto& p = plan.data();
  return p.a.matrix() && !p.options.entry && !p.factor && detail::facts_of(p.chosen).in_blocks;
}

template <class T>
std::size_t block_stepper<T>::scratch_bytes(const solve_plan<T>& plan, std::size_t width) noexcept {
  return 4 * detail::carver::bytes_for<T>(plan.data().size() * width);
}

template <class T>
block_stepper<T>::block_stepper(const solve_plan<T>& plan, std::size_t width, std::span<const T> b,
                                std::span<T> x, std::span<std::byte> scratch)
  : data_(plan.data()),
    width_(width),
    b_(b),
    x_(x),
    gradient_(plan.chosen() == method::conjugate_gradient) {
  if (!supports(plan))
    throw error{errc::bad_option, std::string{to_string(plan.chosen())} + " with "
                                    + std::string{to_string(plan.preconditioner())}
                                    + " does not work in blocks; ask block_stepper::supports"};
  if (width == 0 || width > max_width)
    throw error{errc::bad_option, "a block has 1 to " + std::to_string(max_width) + " columns, not "
                                    + std::to_string(width)};
  const auto size = data_.size() * width;
  if (b.size() != size || x.size() != size || scratch.size() < scratch_bytes(plan, width))
    throw error{errc::dimension_mismatch,
                std::to_string(width) + " columns need B and X of " + std::to_string(size)
                  + " numbers and " + std::to_string(scratch_bytes(plan, width))
                  + " bytes of scratch memory, not " + std::to_string(b.size()) + ", "
                  + std::to_string(x.size()) + " and " + std::to_string(scratch.size())};
  double x_norm[max_width];
  column_norms(b, width, "b", b_norm_);
  column_norms(std::span<const T>{x}, width, "the first guess of x", x_norm);
  detail::carver memory{scratch};
  scratch_ = memory.take<T>(4 * detail::carver::bytes_for<T>(size) / sizeof(T));
  begin_columns();
}

// 0: the residual; 1: terms or directions; 2: their products; 3: copies of x that were better.
template <class T>
std::span<T> block_stepper<T>::part(std::size_t which) const noexcept {
  return scratch_.subspan(which * detail::carver::bytes_for<T>(b_.size()) / sizeof(T), b_.size());
}

template <class T>
void block_stepper<T>::begin_columns() noexcept {
  true_residuals();
  bool again = false;
  for (std::size_t k = 0; k < width_; ++k) {
    if (std::isfinite(columns_[k].residual))
      continue;
    again = true; // a first guess so large that A x overflows
    for (std::size_t i = k; i < x_.size(); i += width_)
      x_[i] = 0;
  }
  if (again)
    true_residuals();
  for (std::size_t k = 0; k < width_; ++k) {
    if (b_norm_[k] == 0) {
      for (std::size_t i = k; i < x_.size(); i += width_)
        x_[i] = 0;
      columns_[k] = {0, state::converged};
      phase_[k] = phase::ended;
    } else if (columns_[k].residual <= detail::reachable<T>(data_.options.tolerance)) {
      columns_[k].state = state::converged;
      phase_[k] = phase::ended;
    }
    best_[k] = std::max(columns_[k].residual, 1.0);
    if (kept_[k].begin(columns_[k].residual))
      for (std::size_t i = k; i < x_.size(); i += width_)
        part(3)[i] = x_[i];
  }
}

// Residuals of all columns, and from them the next term or direction of those that go on.
template <class T>
void block_stepper<T>::true_residuals() noexcept {
  const auto& p = data_;
  std::array<T, max_width> sums;
  std::array<T, max_width> ones;
  ones.fill(1);
  kernels::multiply_block<T>(*p.a.matrix(), width_, x_, part(2), p.options.order);
  kernels::block_residual<T>(width_, b_, part(2), part(0), sums, p.options.order);
  const auto norms = relative_norms(part(0));
  for (std::size_t k = 0; k < width_; ++k) {
    if (phase_[k] != phase::ended && b_norm_[k] > 0)
      columns_[k].residual = precise_residual(k, norms[k], x_);
    kept_[k].restarted();
  }
  kernels::block_scale<T>(width_, ones, p.inverse_diagonal, part(0), part(1));
  if (gradient_) {
    kernels::block_dot<T>(width_, part(0), part(1), sums, p.options.order);
    std::copy_n(sums.begin(), width_, scaled_);
  }
}

// Of the columns of r, over those of b.
template <class T>
auto block_stepper<T>::relative_norms(std::span<const T> r) const noexcept -> numbers {
  numbers scales;
  numbers result;
  for (std::size_t k = 0; k < width_; ++k)
    scales[k] = b_norm_[k] > 0 ? 1 / b_norm_[k] : 0;
  detail::column_squares<T>(r, width_, scales.data(), result.data());
  for (std::size_t k = 0; k < width_; ++k)
    result[k] = std::sqrt(result[k]);
  return result;
}

// As in true_residual.hpp.
template <class T>
double block_stepper<T>::precise_residual(std::size_t k, double residual,
                                          std::span<const T> x) const noexcept {
  return detail::precise_residual<T>(data_, residual, {k, width_, b_norm_[k], x, b_});
}

template <class T>
bool block_stepper<T>::any(phase p) const noexcept {
  return std::find(phase_, phase_ + width_, p) != phase_ + width_;
}

template <class T>
step_report block_stepper<T>::step() noexcept {
  if (any(phase::iterating))
    iterate();
  else if (any(phase::awaiting_check) || any(phase::failed))
    check();
  return summary();
}

template <class T>
step_report block_stepper<T>::finish() noexcept {
  for (std::size_t k = 0; k < width_; ++k) {
    if (phase_[k] == phase::iterating || phase_[k] == phase::awaiting_check)
      fail_column(k, state::budget_exhausted);
  }
  if (any(phase::failed))
    check();
  return summary();
}

template <class T>
void block_stepper<T>::iterate() noexcept {
  for (std::size_t k = 0; k < width_; ++k)
    steps_[k] += phase_[k] == phase::iterating ? 1 : 0;
  const auto& p = data_;
  kernels::multiply_block<T>(*p.a.matrix(), width_, part(1), part(2), p.options.order);
  if (gradient_)
    iterate_gradient();
  else
    iterate_neumann();
  keep_better();
}

// Copies the columns that are better than what is kept of them.
template <class T>
void block_stepper<T>::keep_better() noexcept {
  std::array<bool, max_width> better{};
  for (std::size_t k = 0; k < width_; ++k)
    better[k] = phase_[k] == phase::iterating
                && kept_[k].offer(columns_[k].residual, std::numeric_limits<T>::epsilon());
  if (std::ranges::none_of(better, [](bool b) { return b; }))
    return;
  const auto copies = part(3);
  for (std::size_t i = 0; i < x_.size(); i += width_)
    for (std::size_t k = 0; k < width_; ++k)
      copies[i + k] = better[k] ? x_[i + k] : copies[i + k];
}

template <class T>
void block_stepper<T>::iterate_neumann() noexcept {
  const auto& p = data_;
  std::array<T, max_width> going;
  std::array<T, max_width> squares;
  for (std::size_t k = 0; k < width_; ++k)
    going[k] = phase_[k] == phase::iterating ? 1 : 0;
  kernels::block_neumann<T>(width_, going, part(2), p.inverse_diagonal, part(1), x_, part(0),
                            squares, p.options.order);
  for (std::size_t k = 0; k < width_; ++k)
    judge(k, static_cast<double>(squares[k]));
}

template <class T>
void block_stepper<T>::iterate_gradient() noexcept {
  const auto& p = data_;
  std::array<T, max_width> curvature;
  std::array<T, max_width> alpha;
  std::array<T, max_width> beta;
  std::array<T, max_width> squares;
  std::array<T, max_width> scaled;
  kernels::block_dot<T>(width_, part(1), part(2), curvature, p.options.order);
  for (std::size_t k = 0; k < width_; ++k) {
    alpha[k] = 0;
    if (phase_[k] != phase::iterating)
      continue;
    const double step = scaled_[k] / static_cast<double>(curvature[k]);
    if (!(curvature[k] > 0) || !(scaled_[k] > 0) || !std::isfinite(step))
      fail_column(k, state::stalled); // not positive definite
    else
      alpha[k] = static_cast<T>(step);
  }
  kernels::block_cg_residual<T>(width_, alpha, part(2), p.inverse_diagonal, part(0), squares,
                                scaled, p.options.order);
  for (std::size_t k = 0; k < width_; ++k) {
    beta[k] = alpha[k] == 0 ? T{0} : static_cast<T>(static_cast<double>(scaled[k]) / scaled_[k]);
    scaled_[k] = alpha[k] == 0 ? scaled_[k] : static_cast<double>(scaled[k]);
  }
  kernels::block_cg_direction<T>(width_, alpha, beta, p.inverse_diagonal, part(0), part(1), x_,
                                 p.options.order);
  for (std::size_t k = 0; k < width_; ++k)
    judge(k, static_cast<double>(squares[k]));
}

template <class T>
void block_stepper<T>::judge(std::size_t k, double squared) noexcept {
  if (phase_[k] != phase::iterating)
    return;
  const double residual = std::sqrt(squared) / b_norm_[k];
  const auto& limits = detail::facts_of(data_.chosen);
  if (!std::isfinite(residual) || residual > limits.growth * best_[k])
    return fail_column(k, state::diverged);
  columns_[k].residual = residual;
  if (residual <= detail::reachable<T>(data_.options.tolerance)) {
    phase_[k] = phase::awaiting_check;
  } else if (residual < best_[k]) {
    best_[k] = residual;
    since_best_[k] = 0;
  } else if (++since_best_[k] >= limits.patience) {
    fail_column(k, state::stalled);
  }
}

template <class T>
void block_stepper<T>::check() noexcept {
  true_residuals();
  for (std::size_t k = 0; k < width_; ++k) {
    if (phase_[k] != phase::awaiting_check)
      continue;
    ++steps_[k];
    if (columns_[k].residual <= detail::reachable<T>(data_.options.tolerance)) {
      columns_[k].state = state::converged;
      phase_[k] = phase::ended;
    } else if (!std::isfinite(columns_[k].residual)) {
      fail_column(k, state::diverged);
    } else if (restarts_[k]++ == detail::max_restarts) {
      fail_column(k, state::stalled);
    } else {
      phase_[k] = phase::iterating;
      best_[k] = std::max(columns_[k].residual, 1.0);
      since_best_[k] = 0;
    }
  }
  settle_failed();
}

// After true_residuals(): whichever is best of a failed column's x, its copy and zeros.
template <class T>
void block_stepper<T>::settle_failed() noexcept {
  const auto copies = part(3);
  for (std::size_t i = 0; i < x_.size(); i += width_)
    for (std::size_t k = 0; k < width_; ++k)
      if (phase_[k] == phase::failed && !std::isfinite(x_[i + k]))
        columns_[k].residual = std::numeric_limits<double>::infinity();
  numbers of_copies{};
  const auto may_beat = [this](std::size_t k) {
    return phase_[k] == phase::failed && kept_[k].may_beat(columns_[k].residual);
  };
  bool measured = false;
  for (std::size_t k = 0; k < width_ && !measured; ++k)
    measured = may_beat(k) && !kept_[k].exact();
  if (measured) {
    // Numbers of columns that have no copy may be anything, and stay in their columns.
    const auto product = part(2);
    kernels::multiply_block<T>(*data_.a.matrix(), width_, copies, product, data_.options.order);
    for (std::size_t i = 0; i < product.size(); ++i)
      product[i] = b_[i] - product[i];
    of_copies = relative_norms(product);
  }
  for (std::size_t k = 0; k < width_; ++k) {
    if (phase_[k] != phase::failed)
      continue;
    auto& residual = columns_[k].residual;
    const bool has_rival = may_beat(k);
    double copys = std::numeric_limits<double>::infinity();
    if (has_rival)
      copys = kept_[k].exact() ? kept_[k].estimate() : precise_residual(k, of_copies[k], copies);
    const bool take_copy = has_rival && copys <= residual;
    residual = take_copy ? copys : residual;
    const bool usable = residual <= 1;
    for (std::size_t i = k; i < x_.size(); i += width_)
      x_[i] = !usable ? T{0} : take_copy ? copies[i] : x_[i];
    residual = usable ? residual : 1;
    columns_[k].state
      = residual <= detail::reachable<T>(data_.options.tolerance) ? state::converged : failure_[k];
    phase_[k] = phase::ended;
    clear_recurrence(k);
  }
}

// Kernels multiply what belongs to columns that do not go on by 0, which does not help against
// infinities.
template <class T>
void block_stepper<T>::clear_recurrence(std::size_t k) noexcept {
  for (std::size_t i = k; i < x_.size(); i += width_)
    part(0)[i] = part(1)[i] = 0;
}

// The column's final state is settled when true residuals are computed next.
template <class T>
void block_stepper<T>::fail_column(std::size_t k, state s) noexcept {
  phase_[k] = phase::failed;
  failure_[k] = s;
  clear_recurrence(k);
}

template <class T>
step_report block_stepper<T>::summary() const noexcept {
  step_report running{0, state::converged};
  step_report ended{0, state::converged};
  for (std::size_t k = 0; k < width_; ++k) {
    auto& into = phase_[k] == phase::ended ? ended : running;
    into.residual = std::max(into.residual, columns_[k].residual);
    if (phase_[k] != phase::ended)
      running.state = state::running;
    else if (ended.state == state::converged)
      ended.state = columns_[k].state;
  }
  return running.state == state::running ? running : ended;
}

template class block_stepper<float>;
template class block_stepper<double>;

} // namespace basal::solver
