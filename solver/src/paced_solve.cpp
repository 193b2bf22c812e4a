#include "paced_solve.hpp"

#include <string>
#include <utility>

#include "attempts.hpp"

namespace basal::solver::detail {

template <class T>
paced_solve<T>::paced_solve(solve_plan<T> plan, std::span<const T> b)
  : plan_(std::move(plan)), b_(b) {
  begin();
}

template <class T>
void paced_solve<T>::begin() {
  scratch_ = aligned_array<std::byte>{plan_->scratch_bytes()};
  attempt_.x.assign(plan_->solution_size(), T{0});
  stepper_.emplace(*plan_, b_, attempt_.x, std::span{scratch_.data(), scratch_.size()});
}

template <class T>
bool paced_solve<T>::advance(std::uint64_t steps) {
  const auto limit = plan_ ? plan_->options().iteration_limit : 0;
  for (; plan_ && steps > 0; --steps) {
    if (stepper_->report().state == state::running && iterations() < limit)
      stepper_->step();
    else
      end();
  }
  return plan_.has_value();
}

// The attempt is over: its part of the story, and the next one if there is to be one.
template <class T>
void paced_solve<T>::end() {
  const auto report = stepper_->finish();
  attempt_.iterations += stepper_->steps();
  attempt_.state = report.state;
  attempt_.residual = report.residual;
  attempt_.half_width = stepper_->half_width();
  attempt_.chosen = plan_->chosen();
  attempt_.preconditioner = plan_->preconditioner();
  if (!attempt_.why.empty())
    attempt_.why += "; then ";
  attempt_.why += std::string{to_string(plan_->chosen())} + ": " + plan_->why();
  if (!stepper_->detail().empty())
    attempt_.why += "; " + std::string{stepper_->detail()};
  stepper_.reset();

  const bool failed = report.state == state::stalled || report.state == state::diverged;
  take_better(result_, std::move(attempt_));
  auto next = failed ? plan_->fallback() : std::nullopt;
  plan_.reset();
  if (!next)
    return;
  attempt_ = {};
  attempt_.iterations = result_.iterations;
  attempt_.why = result_.why;
  plan_ = std::move(next);
  begin();
}

template class paced_solve<float>;
template class paced_solve<double>;

} // namespace basal::solver::detail
