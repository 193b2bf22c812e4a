// One piece: what a plan decides for a matrix, in the order in which it is decided: method,
// objections, preconditioner, factors. Each step uses what those before it have found.

#include <basal/solver/solve_plan.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include <basal/solver/build_config.hpp>
#include <basal/solver/errors.hpp>

#include "factor/complete_lu.hpp"
#include "factor/threshold_lu.hpp"
#include "method/methods.hpp"
#include "number_text.hpp"
#include "plan_data.hpp"
#include "portable.hpp"
#include "portable_math.hpp"
#include "true_residual.hpp"

namespace basal::solver {

namespace {

using detail::number_text;

using detail::plan_data;

// One term of a Neumann series reads what one iteration of conjugate gradients reads, but passes
// over the vectors once where the other needs three passes.
constexpr double gradient_cost = 1.5;

// A complete factor of this size is no question of memory or time, whatever its fill.
constexpr index_type small_size = 1000;

// Beyond this a walk takes a thousand steps on average and more.
constexpr double slowest_walk_ratio = 0.999;

std::string describe(const matrix_profile& p) {
  std::string text = p.symmetric ? "symmetric" : "not symmetric";
  if (!p.full_diagonal)
    return text + ", zeros, or nearly, on the diagonal";
  text += p.positive_diagonal ? ", positive diagonal" : ", negative elements on the diagonal";
  text += ", |off-diagonal|/|diagonal| up to " + number_text(p.row_ratio) + " in rows and "
          + number_text(p.column_ratio) + " in columns";
  return text + ", Jacobi spectral radius about " + number_text(p.spectral_radius) + ", between "
         + number_text(p.spectral_radius_low) + " and " + number_text(p.spectral_radius_high);
}

// Terms until the error has shrunk by `tolerance`: rho^k = tolerance.
double neumann_terms(double rho, double tolerance) {
  return rho == 0 ? 1 : std::ceil(detail::portable_log(tolerance) / detail::portable_log(rho));
}

// "need about 800 terms", and what the radius leaves open.
std::string series_text(const matrix_profile& p, double tolerance) {
  if (!p.full_diagonal || p.spectral_radius_low >= 1)
    return "not converge";
  const auto least = number_text(neumann_terms(p.spectral_radius_low, tolerance));
  if (p.spectral_radius >= 1)
    return "need at least " + least + " terms, if it converges";
  return "need about " + number_text(neumann_terms(p.spectral_radius, tolerance))
         + " terms, at least " + least;
}

// The classical bound, with the condition number (1 + rho) / (1 - rho) that the spectral radius
// leaves to the Jacobi-scaled matrix.
double gradient_iterations(double rho, double tolerance) {
  return std::ceil(std::sqrt((1 + rho) / (1 - rho)) / 2 * detail::portable_log(2 / tolerance));
}

double usable_tolerance(const solve_options& o) {
  return std::min(std::max(o.tolerance, 1e-15), 0.5);
}

template <class T>
void choose_for_entry(plan_data<T>& p) {
  if (p.profile.row_ratio <= slowest_walk_ratio) {
    // Walks need work like 1/tolerance^2, pushes like log(1/tolerance), but on all of the matrix.
    p.chosen = p.options.tolerance >= 1e-3 ? method::random_walk : method::backward_push;
    p.why = "one entry, and rows dominate: ";
    p.why += p.chosen == method::random_walk ? "walks from it suffice for a tolerance this loose"
                                             : "pushing from it reaches a tolerance this tight";
  }
}

template <class T>
void choose(plan_data<T>& p) {
  const auto& m = p.profile;
  if (p.options.entry)
    choose_for_entry(p);
  if (p.chosen != method::automatic)
    return;
  const double tolerance = usable_tolerance(p.options);
  const bool contracts = m.full_diagonal && m.spectral_radius < 1;
  const double terms
    = contracts ? neumann_terms(m.spectral_radius, tolerance) : std::numeric_limits<double>::max();
  if (m.symmetric && m.positive_diagonal) {
    const double rho = std::min(m.spectral_radius, 0.999999);
    const double gradient = gradient_cost * gradient_iterations(rho, tolerance);
    if (terms <= gradient) {
      p.chosen = method::neumann;
      p.why = "about " + number_text(terms) + " terms suffice";
    } else {
      p.chosen = method::conjugate_gradient;
      p.why = "symmetric with a positive diagonal, and a Neumann series would "
              + series_text(m, tolerance);
    }
    return;
  }
  // BiCGSTAB multiplies twice per iteration and solves with its factors twice.
  if (contracts && m.spectral_radius < 0.5) {
    p.chosen = method::neumann;
    p.why = "not symmetric, but about " + number_text(terms) + " terms suffice";
    return;
  }
  // Not where the caller named a preconditioner for it.
  if (!m.full_diagonal && p.options.preconditioner == preconditioning::automatic) {
    const bool small = p.a.size() <= small_size;
    p.chosen = small && with_direct_method ? method::direct : method::gmres;
    p.why = "what has zeros on its diagonal needs a factor whose rows change places";
    if (small)
      p.why += with_direct_method ? ", and at this size it may be complete"
                                  : "; a direct method would be the first choice at this size, but "
                                    "this library was built without one";
    return;
  }
  p.chosen = method::bicgstab;
  p.why = m.symmetric ? "symmetric, but not positive definite"
                      : "not symmetric, and no series of "
                        "few terms";
}

template <class T>
void choose_for_operator(plan_data<T>& p) {
  if (p.options.method != method::automatic)
    return;
  p.chosen = method::bicgstab;
  p.why = "a matrix-free operator may have any matrix; name conjugate_gradient if it is symmetric "
          "positive definite";
}

// Compares the facts of a method with the profile of a matrix. @returns an error if they disagree
template <class T>
std::optional<error> objection(const plan_data<T>& p) {
  const auto& m = p.profile;
  const auto& needs = detail::facts_of(p.chosen);
  const auto refuse = [&](errc code, const std::string& why) {
    return error{code, std::string{needs.name} + ": " + why};
  };
  if (!p.a.matrix()) {
    if (needs.reading != detail::reading::products || needs.complete_factor)
      return refuse(errc::bad_option, "needs a stored matrix, not only its products");
    if (needs.divides_by_diagonal && p.a.diagonal().empty())
      return refuse(errc::zero_diagonal, "needs the diagonal; give it to the operator");
    return std::nullopt;
  }
  if (needs.divides_by_diagonal && !m.full_diagonal)
    return refuse(errc::zero_diagonal,
                  "divides by the diagonal, which has zeros, or nearly; use bicgstab");
  if (needs.needs_symmetry && !m.symmetric)
    return refuse(errc::not_symmetric, "the matrix is not symmetric; use bicgstab");
  if (needs.needs_contraction && m.spectral_radius_low >= 1)
    return refuse(errc::no_convergence_expected,
                  "the series diverges, since the spectral radius of I - D^-1 A is about "
                    + number_text(m.spectral_radius_low) + "; use "
                    + (m.symmetric ? "conjugate_gradient" : "bicgstab"));
  if (needs.needs_dominance == detail::dominance::columns && m.column_ratio > 1)
    return refuse(errc::no_convergence_expected,
                  "pushes would not end, since a column has |off-diagonal|/|diagonal| = "
                    + number_text(m.column_ratio) + " > 1");
  if (needs.one_entry && !p.options.entry)
    return refuse(errc::bad_option, "computes one entry; set options.entry");
  if (needs.needs_dominance == detail::dominance::rows && m.row_ratio > slowest_walk_ratio)
    return refuse(errc::no_convergence_expected,
                  "a row has |off-diagonal|/|diagonal| = " + number_text(m.row_ratio) + "; at most "
                    + number_text(slowest_walk_ratio) + " is allowed");
  return std::nullopt;
}

// The preconditioner that preconditioning::automatic chooses.
template <class T>
preconditioning best_preconditioner(const plan_data<T>& p) {
  if (p.chosen == method::gmres && p.a.matrix())
    return p.a.size() <= small_size ? preconditioning::nearly_complete : preconditioning::threshold;
  const bool diagonal = p.a.matrix() ? p.profile.full_diagonal : !p.a.diagonal().empty();
  if (!diagonal)
    return preconditioning::none;
  // Conjugate gradients get their factor when the diagonal does not suffice: it costs more to make
  // than the iterations that an easy system needs.
  if (p.a.matrix() && detail::facts_of(p.chosen).factor == detail::factor_kind::lu)
    return preconditioning::incomplete;
  return preconditioning::jacobi;
}

template <class T>
void choose_preconditioner(plan_data<T>& p) {
  const auto& facts = detail::facts_of(p.chosen);
  if (!facts.preconditioned) {
    p.preconditioner = facts.divides_by_diagonal ? preconditioning::jacobi : preconditioning::none;
    return;
  }
  p.preconditioner = p.options.preconditioner;
  switch (p.preconditioner) {
  case preconditioning::automatic:
    p.preconditioner = best_preconditioner(p);
    return;
  case preconditioning::none:
    return;
  case preconditioning::jacobi:
    if (p.a.matrix() ? !p.profile.full_diagonal : p.a.diagonal().empty())
      throw error{errc::zero_diagonal,
                  "the Jacobi preconditioner divides by the diagonal, which "
                  "has zeros, or nearly, or is unknown; use preconditioning::none"};
    return;
  case preconditioning::incomplete:
    if (!p.a.matrix())
      throw error{errc::bad_option, std::string{to_string(p.chosen)}
                                      + ": an incomplete factor needs a stored matrix"};
    return;
  case preconditioning::threshold:
  case preconditioning::nearly_complete:
    if (!p.a.matrix())
      throw error{errc::bad_option, std::string{to_string(p.chosen)}
                                      + ": an incomplete factor needs a stored matrix"};
    if (facts.factor != detail::factor_kind::lu)
      throw error{errc::bad_option, std::string{to_string(p.chosen)}
                                      + " needs a symmetric "
                                        "preconditioner, which a threshold factor is not"};
    return;
  }
}

template <class T>
incomplete_factor<T> factorise(const csr_matrix<T>& a, detail::factor_kind kind) {
  switch (kind) {
  case detail::factor_kind::cholesky:
    return incomplete_factor<T>::cholesky(a);
  case detail::factor_kind::lu:
    return incomplete_factor<T>::lu(a);
  case detail::factor_kind::none:
    break;
  }
  throw error{errc::bad_option, "the method has no incomplete factor"};
}

// Of rows that change places. Null where the plan needs none.
template <class T>
std::shared_ptr<const detail::ordered_factor<T>> ordered_factor_for(const plan_data<T>& p) {
  const auto limit = p.options.factor_bytes;
  const auto share = [](detail::ordered_factor<T> f) {
    return std::make_shared<const detail::ordered_factor<T>>(std::move(f));
  };
  if (detail::facts_of(p.chosen).complete_factor)
    return share(detail::complete_lu<T>(detail::match(*p.a.matrix()), limit));
  switch (p.preconditioner) {
  case preconditioning::threshold:
    return share(detail::threshold_lu<T>(detail::match(*p.a.matrix()),
                                         {.drop = 1e-3, .fill = 10, .bytes = limit}));
  case preconditioning::nearly_complete:
    return share(detail::threshold_lu<T>(
      detail::match(*p.a.matrix()),
      {.drop = 1e-8, .fill = std::numeric_limits<double>::infinity(), .bytes = limit}));
  case preconditioning::automatic:
  case preconditioning::none:
  case preconditioning::jacobi:
  case preconditioning::incomplete:
    break;
  }
  return nullptr;
}

// Computes what the method needs beside the matrix.
template <class T>
void prepare(plan_data<T>& p) {
  p.inverse_diagonal.assign(p.size(), T{1});
  if (p.preconditioner == preconditioning::jacobi) {
    const auto diagonal = p.a.diagonal();
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
      p.inverse_diagonal[i] = 1 / diagonal[i];
      if (!std::isfinite(p.inverse_diagonal[i]))
        throw error{errc::zero_diagonal,
                    "diagonal element " + std::to_string(i) + " is " + std::to_string(diagonal[i])};
    }
  }
  if (!p.a.matrix())
    return;
  const auto& a = *p.a.matrix();
  p.rounding_of_products = detail::rounding_of_products(a);
  if (p.preconditioner == preconditioning::incomplete) {
    auto factor = factorise(a, detail::facts_of(p.chosen).factor);
    if (factor.shift() > 0)
      p.why += "; the incomplete factor needed a diagonal larger by " + number_text(factor.shift());
    p.factor = std::make_shared<const incomplete_factor<T>>(std::move(factor));
  }
  p.ordered = ordered_factor_for(p);
  if (p.ordered && p.ordered->replaced_pivots > 0)
    p.why += "; " + std::to_string(p.ordered->replaced_pivots)
             + " pivots of the factor were almost 0 and were replaced";
  switch (detail::facts_of(p.chosen).reading) {
  case detail::reading::products:
    a.packed(); // now, rather than in the first step
    break;
  case detail::reading::columns:
    p.transposed
      = p.profile.symmetric ? p.a.matrix() : std::make_shared<const csr_matrix<T>>(a.transposed());
    a.packed();
    break;
  case detail::reading::walks:
    p.walks = std::make_shared<const detail::walk_table>(a);
    break;
  }
}

// One of the attempts that follow, in order, when the router's choice has not converged: conjugate
// gradients with a factor before BiCGSTAB, whose convergence is less certain; a factor as large as
// the matrix before one ten times as large; a complete factor for small systems, and for others
// once an incomplete one has failed. The weak preconditioners at the end are for matrices without a
// factor: singular ones whose system has a solution all the same.
struct rung {
  enum class condition : std::uint8_t {
    none,
    definite, // A may be positive definite, of which a positive diagonal is the sign
    small,
    large,
  };

  method chosen;
  preconditioning preconditioner;
  condition only_if = condition::none;

  template <class T>
  bool suits(const plan_data<T>& p) const noexcept {
    switch (only_if) {
    case condition::definite:
      return p.profile.positive_diagonal;
    case condition::small:
      return p.a.size() <= small_size;
    case condition::large:
      return p.a.size() > small_size;
    case condition::none:
      break;
    }
    return true;
  }
};

constexpr rung ladder[] = {
  {method::conjugate_gradient, preconditioning::jacobi, rung::condition::definite},
  {method::conjugate_gradient, preconditioning::incomplete, rung::condition::definite},
  {method::bicgstab, preconditioning::incomplete},
  {method::direct, preconditioning::none, rung::condition::small},
  {method::gmres, preconditioning::threshold},
  {method::direct, preconditioning::none, rung::condition::large},
  {method::gmres, preconditioning::nearly_complete},
  {method::bicgstab, preconditioning::jacobi},
  {method::bicgstab, preconditioning::none},
};

// The rung after the one that a plan stands on; the first for those that stand on none, which are
// Neumann, walks and pushes.
template <class T>
std::size_t rung_after(const plan_data<T>& p) noexcept {
  for (std::size_t k = 0; k < std::size(ladder); ++k)
    if (ladder[k].chosen == p.chosen && ladder[k].preconditioner == p.preconditioner
        && ladder[k].suits(p))
      return k + 1;
  return 0;
}

// The next rung that the matrix allows, from `first` on; one whose factor cannot be made is passed
// over, and the reason is added to `why`. Null when the ladder has ended.
template <class T>
std::shared_ptr<plan_data<T>> climb(const plan_data<T>& failed, std::size_t first,
                                    std::string why) {
  for (auto k = first; k < std::size(ladder); ++k) {
    auto p = std::make_shared<plan_data<T>>(failed.a, failed.options, failed.profile);
    p->chosen = ladder[k].chosen;
    p->options.preconditioner = ladder[k].preconditioner;
    p->next_rung = k + 1;
    if (!ladder[k].suits(*p) || objection(*p))
      continue;
    try {
      choose_preconditioner(*p);
      prepare(*p);
    } catch (const error& e) {
      why += std::string{"; "} + e.what();
      continue;
    }
    p->why = why + p->why;
    return p;
  }
  return nullptr;
}

} // namespace

template <class T>
solve_plan<T>::solve_plan(linear_operator<T> a, const solve_options& options) {
  validate(options);
  if (options.entry && *options.entry >= a.size())
    throw error{errc::bad_option, "entry " + std::to_string(*options.entry)
                                    + " is wanted of a system of size " + std::to_string(a.size())};
  auto p = std::make_shared<plan_data<T>>(std::move(a), options, matrix_profile{});
  p->chosen = options.method;
  if (p->a.matrix())
    p->profile = measure(*p->a.matrix());
  if (options.method != method::automatic)
    p->why = "named by the caller";
  else if (p->a.matrix())
    choose(*p);
  else
    choose_for_operator(*p);
  if (const auto why = objection(*p); why && options.method != method::automatic)
    throw error{*why};
  choose_preconditioner(*p);
  if (p->a.matrix())
    p->why += " (" + describe(p->profile) + ")";
  p->next_rung = rung_after(*p);
  try {
    prepare(*p);
  } catch (const error& e) {
    // The router's own wish for a factor is no reason to fail.
    if (options.method != method::automatic || options.preconditioner != preconditioning::automatic)
      throw;
    auto next = climb(*p, p->next_rung, p->why + "; " + e.what());
    if (!next)
      throw;
    p = std::move(next);
  }
  data_ = std::move(p);
}

template <class T>
solve_plan<T>::solve_plan(std::shared_ptr<const detail::plan_data<T>> data)
  : data_(std::move(data)) {
}

template <class T>
method solve_plan<T>::chosen() const noexcept {
  return data_->chosen;
}

template <class T>
preconditioning solve_plan<T>::preconditioner() const noexcept {
  return data_->preconditioner;
}

template <class T>
const std::string& solve_plan<T>::why() const noexcept {
  return data_->why;
}

template <class T>
const solve_options& solve_plan<T>::options() const noexcept {
  return data_->options;
}

template <class T>
const linear_operator<T>& solve_plan<T>::matrix() const noexcept {
  return data_->a;
}

template <class T>
const matrix_profile& solve_plan<T>::profile() const noexcept {
  return data_->profile;
}

template <class T>
std::size_t solve_plan<T>::scratch_bytes() const noexcept {
  return detail::allocatable(detail::scratch_bytes(*data_));
}

template <class T>
std::size_t solve_plan<T>::solution_size() const noexcept {
  return data_->options.entry ? 1 : data_->size();
}

template <class T>
std::size_t solve_plan<T>::bytes() const noexcept {
  const auto& d = *data_;
  auto sum = sizeof d + d.why.capacity() + d.inverse_diagonal.capacity() * sizeof(T);
  if (d.a.matrix())
    sum += d.a.matrix()->bytes();
  if (d.factor)
    sum += d.factor->bytes();
  if (d.ordered)
    sum += d.ordered->bytes();
  if (d.transposed && d.transposed != d.a.matrix())
    sum += d.transposed->bytes();
  if (d.walks)
    sum += d.walks->bytes();
  return sum;
}

template <class T>
solve_plan<T> solve_plan<T>::with_seed(std::uint64_t seed) const {
  auto copy = std::make_shared<plan_data<T>>(*data_);
  copy->options.seed = seed;
  return solve_plan{std::move(copy)};
}

template <class T>
std::optional<solve_plan<T>> solve_plan<T>::fallback() const {
  const auto& d = *data_;
  if (d.options.method != method::automatic || !d.a.matrix())
    return std::nullopt;
  auto next = climb(d, d.next_rung,
                    "after " + std::string{to_string(d.chosen)} + " with "
                      + std::string{to_string(d.preconditioner)} + " had not converged");
  if (!next)
    return std::nullopt;
  return solve_plan{std::move(next)};
}

template class solve_plan<float>;
template class solve_plan<double>;

} // namespace basal::solver
