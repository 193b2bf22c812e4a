#include <basal/solver/stepper.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <basal/solver/detail/kernels/vector.hpp>
#include <basal/solver/errors.hpp>

#include "method/methods.hpp"
#include "plan_data.hpp"
#include "right_hand_side.hpp"

namespace basal::solver {

namespace {

template <class T>
void check_sizes(const solve_plan<T>& plan, std::size_t b, std::size_t x, std::size_t scratch) {
  const auto n = static_cast<std::size_t>(plan.matrix().size());
  const auto check = [n](const char* name, std::size_t needed, std::size_t is) {
    if (is != needed)
      throw error{errc::dimension_mismatch, "a system of size " + std::to_string(n) + " needs "
                                              + name + " of size " + std::to_string(needed)
                                              + ", not " + std::to_string(is)};
  };
  check("b", n, b);
  check("x", plan.solution_size(), x);
  if (scratch < plan.scratch_bytes())
    throw error{errc::dimension_mismatch, std::to_string(scratch)
                                            + " bytes of scratch memory, where the plan needs "
                                            + std::to_string(plan.scratch_bytes())};
}

} // namespace

template <class T>
stepper<T>::stepper(const solve_plan<T>& plan, std::span<const T> b, std::span<T> x,
                    std::span<std::byte> scratch)
  : data_(plan.data()), x_(x) {
  check_sizes(plan, b.size(), x.size(), scratch.size());
  detail::carver memory{scratch};
  if (data_.extracts_entry()) {
    full_ = memory.take<T>(b.size());
    std::fill(full_.begin(), full_.end(), T{0});
    x_[0] = 0;
    x = full_;
  }
  const double b_norm = detail::checked_norm(b, "b");
  if (!data_.options.entry)
    detail::checked_norm(std::span<const T>{x}, "the first guess of x");
  if (b_norm == 0) {
    std::fill(x_.begin(), x_.end(), T{0});
    report_ = {0, state::converged};
    return;
  }
  method_ = detail::start_method(storage_, detail::problem<T>{data_, b, x, b_norm}, memory);
  report_ = method_->start();
  extract();
}

template <class T>
stepper<T>::~stepper() {
  if (method_ != nullptr)
    method_->~iteration();
}

template <class T>
step_report stepper<T>::step() noexcept {
  if (report_.state != state::running)
    return report_;
  ++steps_;
  report_ = method_->step();
  extract();
  return report_;
}

template <class T>
step_report stepper<T>::finish() noexcept {
  if (report_.state == state::running) {
    report_ = method_->finish();
    extract();
  }
  return report_;
}

template <class T>
void stepper<T>::extract() noexcept {
  if (!full_.empty())
    x_[0] = full_[static_cast<std::size_t>(*data_.options.entry)];
}

template <class T>
std::string_view stepper<T>::detail() const noexcept {
  return method_ == nullptr ? std::string_view{} : method_->reason();
}

template <class T>
double stepper<T>::half_width() const noexcept {
  return method_ == nullptr ? 0 : method_->half_width();
}

template <class T>
std::uint64_t stepper<T>::walks() const noexcept {
  return method_ == nullptr ? 0 : method_->walks();
}

template class stepper<float>;
template class stepper<double>;

} // namespace basal::solver
