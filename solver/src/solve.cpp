#include <basal/solver/solve.hpp>

#include <optional>
#include <string>
#include <utility>

#include <basal/solver/detail/aligned_array.hpp>
#include <basal/solver/stepper.hpp>

#include "attempts.hpp"

namespace basal::solver {

namespace {

// One method; adds to what earlier ones did.
template <class T>
void run(const solve_plan<T>& plan, std::span<const T> b, solve_result<T>& result) {
  detail::aligned_array<std::byte> scratch{plan.scratch_bytes()};
  result.x.assign(plan.solution_size(), T{0});
  stepper<T> s{plan, b, result.x, {scratch.data(), scratch.size()}};
  const auto limit = plan.options().iteration_limit;
  while (s.report().state == state::running && result.iterations + s.steps() < limit)
    s.step();
  result.iterations += s.steps();
  const auto report = s.finish();
  result.state = report.state;
  result.residual = report.residual;
  result.half_width = s.half_width();
  result.chosen = plan.chosen();
  result.preconditioner = plan.preconditioner();
  if (!result.why.empty())
    result.why += "; then ";
  result.why += std::string{to_string(plan.chosen())} + ": " + plan.why();
  if (!s.detail().empty())
    result.why += "; " + std::string{s.detail()};
}

} // namespace

template <class T>
solve_result<T> solve(const solve_plan<T>& plan, std::span<const T> b) {
  solve_result<T> result;
  run(plan, b, result);
  for (auto next = plan.fallback();
       next && (result.state == state::stalled || result.state == state::diverged);
       next = next->fallback()) {
    solve_result<T> attempt;
    attempt.iterations = result.iterations;
    attempt.why = result.why;
    run(*next, b, attempt);
    detail::take_better(result, std::move(attempt));
  }
  return result;
}

template <class T>
solve_result<T> solve(const linear_operator<T>& a, std::span<const T> b,
                      const solve_options& options) {
  return solve(solve_plan<T>{a, options}, b);
}

template solve_result<float> solve(const linear_operator<float>&, std::span<const float>,
                                   const solve_options&);
template solve_result<double> solve(const linear_operator<double>&, std::span<const double>,
                                    const solve_options&);
template solve_result<float> solve(const solve_plan<float>&, std::span<const float>);
template solve_result<double> solve(const solve_plan<double>&, std::span<const double>);

} // namespace basal::solver
