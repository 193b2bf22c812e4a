// Systems that the router's attempts solve together, and the words about them.
#include <basal/executors/executor_pool.hpp>
#include <basal/solver/build_config.hpp>
#include <basal/solver/detail/aligned_array.hpp>
#include <basal/solver/solver.hpp>

#include <functional>

#include "families.hpp"
#include "hard_families.hpp"
#include "problems.hpp"
#include "support/catch.hpp"

namespace basal::solver {

namespace {

using matrix_ptr = std::shared_ptr<const csr_matrix<double>>;

matrix_ptr shared(csr_matrix<double> a) {
  return std::make_shared<const csr_matrix<double>>(std::move(a));
}

// Of 30 systems with a random right-hand side: how many converge, measured by their solutions.
int converged_of_30(const std::function<csr_matrix<double>(index_type, unsigned)>& family,
                    const solve_options& options) {
  int converged = 0;
  for (unsigned seed = 1; seed <= 30; ++seed) {
    const auto n = 40 + 4 * static_cast<index_type>(seed);
    const auto a = shared(family(n, seed));
    const auto b = problems::numbers(n, seed);
    const auto r = solve<double>(linear_operator<double>{a}, b, options);
    INFO("seed " << seed << ": " << to_string(r.state) << " after " << r.why);
    const bool is_so = problems::residual(*a, r.x, b) <= 1.01 * options.tolerance;
    CHECK(is_so == (r.state == state::converged)); // no wrong "converged", and none missed
    converged += is_so ? 1 : 0;
  }
  return converged;
}

} // namespace

TEST_CASE("all 30 of each hard family converge by the router's choice") {
  const solve_options options{.tolerance = 1e-8};
  CHECK(converged_of_30(families::skew, options) == 30);
  CHECK(converged_of_30(families::permuted_without_diagonal, options) == 30);
  CHECK(converged_of_30(families::nearly_singular, options) == 30);
}

TEST_CASE("GMRES with a threshold factor reaches them, too") {
  const solve_options options{
    .method = method::gmres, .preconditioner = preconditioning::threshold, .tolerance = 1e-8};
  CHECK(converged_of_30(families::permuted_without_diagonal, options) == 30);
  const solve_options nearly{
    .method = method::gmres, .preconditioner = preconditioning::nearly_complete, .tolerance = 1e-8};
  CHECK(converged_of_30(families::skew, nearly) == 30);
  CHECK(converged_of_30(families::nearly_singular, nearly) == 30);
}

TEST_CASE("BiCGSTAB takes a threshold factor, conjugate gradients refuse it") {
  const solve_options options{
    .method = method::bicgstab, .preconditioner = preconditioning::threshold, .tolerance = 1e-8};
  CHECK(converged_of_30(families::permuted_without_diagonal, options) == 30);
  const linear_operator<double> a{shared(families::poisson_2d<double>(5))};
  CHECK_THROWS_AS(
    (solve_plan<double>{
      a, {.method = method::conjugate_gradient, .preconditioner = preconditioning::threshold}}),
    error);
}

TEST_CASE("the router says why it takes a factor whose rows change places") {
  const linear_operator<double> a{shared(families::skew(40, 1))};
  const solve_plan<double> small{a, {}};
  CHECK(small.chosen() == (with_direct_method ? method::direct : method::gmres));
  CHECK_THAT(small.why(),
             ContainsSubstring("zeros on its diagonal")
               && ContainsSubstring(with_direct_method ? "may be complete" : "built without one"));
  const linear_operator<double> large{shared(families::skew(2000, 1))};
  const solve_plan<double> plan{large, {}};
  CHECK(plan.chosen() == method::gmres);
  CHECK(plan.preconditioner() == preconditioning::threshold);
}

TEST_CASE("what is tried after a failure is told, with what was passed over and why") {
  // ILU(0) is of no use here; no factor may be made.
  const auto a = shared(families::nearly_singular(200, 7));
  const auto b = problems::numbers(200, 3);
  const auto bounded
    = solve<double>(linear_operator<double>{a}, b, {.tolerance = 1e-8, .factor_bytes = 1000});
  CHECK_THAT(bounded.why, ContainsSubstring("bicgstab") && ContainsSubstring("factor_bytes"));
  const auto r = solve<double>(linear_operator<double>{a}, b, {.tolerance = 1e-8});
  CHECK(r.state == state::converged);
  CHECK_THAT(r.why, ContainsSubstring("after bicgstab with incomplete had not converged"));
}

TEST_CASE("a structurally singular system ends with the reason") {
  triplets<double> t{3, 3};
  t.add(0, 0, 1);
  t.add(1, 0, 2);
  t.add(2, 1, 1);
  t.add(2, 2, 1);
  const std::vector<double> b{1, 1, 1};
  const auto r = solve<double>(linear_operator<double>{shared(std::move(t).build())}, b);
  CHECK(r.state != state::converged);
  CHECK_THAT(r.why, ContainsSubstring("structurally singular: of its 3 rows only 2"));
}

TEST_CASE("GMRES: between steps x is the iterate whose residual is reported, and it never rises") {
  const auto a = shared(families::convection<double>(15, 2.0));
  const auto b = problems::numbers(a->rows(), 1);
  const solve_plan<double> plan{
    linear_operator<double>{a},
    {.method = method::gmres, .preconditioner = preconditioning::jacobi, .tolerance = 1e-10}};
  std::vector<double> x(b.size(), 0);
  detail::aligned_array<std::byte> scratch{plan.scratch_bytes()};
  stepper<double> s{plan, b, x, {scratch.data(), scratch.size()}};
  double before = 1;
  while (s.report().state == state::running) {
    s.step();
    CHECK(s.report().residual <= before * (1 + 1e-9));
    CHECK(s.report().residual == Approx(problems::residual(*a, x, b)).epsilon(1e-3));
    before = s.report().residual;
  }
  CHECK(s.report().state == state::converged);
  CHECK(s.steps() > 40); // more than two cycles
}

TEST_CASE("GMRES gives up on a cycle that changes nothing") {
  // A shift: without a preconditioner no cycle shorter than n does anything.
  const index_type n = 50;
  triplets<double> t{n, n};
  for (index_type i = 0; i < n; ++i)
    t.add(i, (i + 1) % n, 1);
  std::vector<double> b(static_cast<std::size_t>(n), 0);
  b[0] = 1;
  const auto r = solve<double>(linear_operator<double>{shared(std::move(t).build())}, b,
                               {.method = method::gmres, .preconditioner = preconditioning::none});
  CHECK(r.state == state::stalled);
  CHECK(r.iterations == 20);
  CHECK_THAT(r.why, ContainsSubstring("a cycle of GMRES hardly makes the residual smaller"));
}

TEST_CASE("a direct solve takes a step, and another where rounding asks for it") {
  if (!with_direct_method)
    return;
  const auto a = shared(families::permuted_without_diagonal(150, 4));
  const auto b = problems::numbers(150, 4);
  const solve_options direct{.method = method::direct, .tolerance = 1e-10};
  CHECK(solve<double>(linear_operator<double>{a}, b, direct).iterations == 1);
  // In float the factor is good for a few digits.
  const auto skew = families::skew(60, 2);
  const linear_operator<float> f{std::make_shared<const csr_matrix<float>>(
    skew.rows(), skew.columns(),
    std::vector<index_type>(skew.row_starts().begin(), skew.row_starts().end()),
    std::vector<index_type>(skew.column_indices().begin(), skew.column_indices().end()),
    std::vector<float>(skew.values().begin(), skew.values().end()))};
  const std::vector<float> single(b.begin(), b.begin() + skew.rows());
  const auto r = solve<float>(f, single, {.method = method::direct, .tolerance = 1e-5});
  CHECK(r.state == state::converged);
  CHECK(r.iterations <= 4);
}

TEST_CASE("a direct method that was named and cannot be is an error that says why") {
  const linear_operator<double> a{shared(families::convection<double>(40, 1.0))};
  try {
    solve_plan<double>{a, {.method = method::direct, .factor_bytes = 1000}};
    FAIL("no error");
  } catch (const error& e) {
    CHECK_THAT(e.what(), ContainsSubstring(with_direct_method ? "factor_bytes"
                                                              : "built without a direct method"));
  }
  const linear_operator<double> free{
    3, [](std::span<const double> x, std::span<double> y) { std::ranges::copy(x, y.begin()); }};
  CHECK_THROWS_AS((solve_plan<double>{free, {.method = method::direct}}), error);
}

TEST_CASE("batches take the same way") {
  executors::pool_config config;
  config.executors = 2;
  executors::executor_pool pool{config};
  batch_solver solver{pool};
  std::vector<solve_request<double>> requests;
  for (unsigned seed = 1; seed <= 6; ++seed)
    for (const auto family : {families::skew, families::nearly_singular})
      requests.emplace_back(shared(family(60, seed)), problems::numbers(60, seed),
                            solve_options{.tolerance = 1e-8});
  for (const auto& outcome : solver.solve_batch<double>(std::move(requests))) {
    CHECK_FALSE(outcome.failure);
    CHECK(outcome.result.state == state::converged);
  }
}

} // namespace basal::solver
