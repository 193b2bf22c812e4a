// The content of a plan. Private: the public face is solve_plan.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <basal/solver/detail/incomplete_factor.hpp>
#include <basal/solver/linear_operator.hpp>
#include <basal/solver/matrix_profile.hpp>
#include <basal/solver/solve_options.hpp>

#include "factor/ordered_factor.hpp"
#include "method/facts.hpp"
#include "method/walk_table.hpp"

namespace basal::solver::detail {

template <class T>
struct plan_data {
  plan_data(linear_operator<T> op, const solve_options& o, const matrix_profile& measured)
    : a(std::move(op)), options(o), profile(measured) {
  }

  linear_operator<T> a;
  solve_options options;
  matrix_profile profile;
  method chosen = method::automatic;
  preconditioning preconditioner = preconditioning::none;
  std::string why;
  std::size_t next_rung = 0; // of the ladder, for when this does not converge

  // Of these there is what the method needs.
  double rounding_of_products = 0; // see true_residual.hpp
  std::vector<T> inverse_diagonal; // ones without Jacobi: one kernel for both
  std::shared_ptr<const incomplete_factor<T>> factor;
  std::shared_ptr<const ordered_factor<T>> ordered;
  std::shared_ptr<const csr_matrix<T>> transposed;
  std::shared_ptr<const walk_table> walks;

  std::size_t size() const noexcept {
    return static_cast<std::size_t>(a.size());
  }

  // Does the method compute all of x, of which the caller wants one entry?
  bool extracts_entry() const noexcept {
    return options.entry && !facts_of(chosen).one_entry;
  }
};

} // namespace basal::solver::detail
