/// Solving a system in one call.
#pragma once

#include <memory>
#include <span>

#include <basal/solver/errors.hpp>
#include <basal/solver/solve_plan.hpp>
#include <basal/solver/solve_result.hpp>

namespace basal::solver {

/// Solves A x = b on the calling thread from a first guess of 0, with the plan's fallbacks if a
/// method of the router's choice does not converge. Throws error as solve_plan and stepper do;
/// not to converge is no error but a state of the result.
template <class T>
solve_result<T> solve(const linear_operator<T>& a, std::span<const T> b,
                      const solve_options& options = {});

/// With a plan that was made before. The plan's options hold.
template <class T>
solve_result<T> solve(const solve_plan<T>& plan, std::span<const T> b);

extern template solve_result<float> solve(const linear_operator<float>&, std::span<const float>,
                                          const solve_options&);
extern template solve_result<double> solve(const linear_operator<double>&, std::span<const double>,
                                           const solve_options&);
extern template solve_result<float> solve(const solve_plan<float>&, std::span<const float>);
extern template solve_result<double> solve(const solve_plan<double>&, std::span<const double>);

} // namespace basal::solver
