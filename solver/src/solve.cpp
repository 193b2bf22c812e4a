#include <basal/solver/solve.hpp>

#include <limits>

#include "paced_solve.hpp"

namespace basal::solver {

template <class T>
solve_result<T> solve(const solve_plan<T>& plan, std::span<const T> b) {
  detail::paced_solve<T> all{plan, b};
  while (all.advance(std::numeric_limits<std::uint64_t>::max())) {
  }
  return all.take();
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
