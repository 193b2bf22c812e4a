#include <basal/solver/build_config.hpp>
#include <basal/solver/solve.hpp>
#include <basal/solver/solve_plan.hpp>
#include <basal/solver/stepper.hpp>
#include <basal/solver/triplets.hpp>

#include "families.hpp"
#include "support/catch.hpp"

#include <cmath>
#include <optional>
#include <set>
#include <string>

namespace basal::solver {

namespace {

using plan = solve_plan<double>;

linear_operator<double> shared(csr_matrix<double> a) {
  return std::make_shared<const csr_matrix<double>>(std::move(a));
}

csr_matrix<double> two_by_two(double a, double b, double c, double d) {
  triplets<double> t{2, 2};
  t.add(0, 0, a);
  t.add(0, 1, b);
  t.add(1, 0, c);
  t.add(1, 1, d);
  return std::move(t).build();
}

errc refusal(csr_matrix<double> a, const solve_options& o) {
  try {
    plan{shared(std::move(a)), o};
  } catch (const error& e) {
    return e.code();
  }
  return errc{};
}

} // namespace

TEST_CASE("a profile measures what the router decides by") {
  const auto p = measure(two_by_two(4, -1, -1, 2));
  CHECK(p.full_diagonal);
  CHECK(p.positive_diagonal);
  CHECK(p.symmetric);
  CHECK(p.opposite_signs);
  CHECK(p.row_ratio == Approx(0.5));
  CHECK(p.column_ratio == Approx(0.5));
  // The eigenvalues of I - D^-1 A are +- 1/sqrt(8).
  CHECK(p.spectral_radius == Approx(0.3536).epsilon(0.25));
  const auto q = measure(two_by_two(1, 2, 0, 0));
  CHECK_FALSE(q.full_diagonal);
  CHECK_FALSE(q.symmetric);
  CHECK(std::isinf(q.spectral_radius));
}

TEST_CASE("few terms: Neumann; symmetric: conjugate gradients; anything else: BiCGSTAB") {
  CHECK(plan{shared(families::dominant<double>(200, 1, 0.1, true)), {}}.chosen()
        == method::neumann);
  CHECK(plan{shared(families::dominant<double>(200, 1, 0.1, false)), {}}.chosen()
        == method::neumann);
  const plan poisson{shared(families::poisson_2d<double>(20)), {}};
  CHECK(poisson.chosen() == method::conjugate_gradient);
  CHECK(poisson.preconditioner() == preconditioning::jacobi);
  const plan wind{shared(families::convection<double>(20, 0.5)), {}};
  CHECK(wind.chosen() == method::bicgstab);
  CHECK(wind.preconditioner() == preconditioning::incomplete);
  const plan zeros{shared(two_by_two(0, 1, 1, 0)), {}};
  CHECK(zeros.chosen() == (with_direct_method ? method::direct : method::gmres));
  CHECK(zeros.preconditioner()
        == (with_direct_method ? preconditioning::none : preconditioning::nearly_complete));
}

TEST_CASE("one entry: walks for a loose tolerance, pushes for a tight one") {
  const auto a = shared(families::dominant<double>(200, 1, 0.5, false));
  CHECK(plan{a, {.tolerance = 0.01, .entry = 7}}.chosen() == method::random_walk);
  CHECK(plan{a, {.tolerance = 1e-8, .entry = 7}}.chosen() == method::backward_push);
  const plan all{shared(families::poisson_2d<double>(9)), {.tolerance = 0.01, .entry = 7}};
  CHECK(all.chosen() == method::conjugate_gradient); // rows do not dominate strictly
  CHECK(all.solution_size() == 1);
}

TEST_CASE("a plan says why") {
  CHECK_THAT((plan{shared(families::poisson_2d<double>(20)), {}}.why()),
             ContainsSubstring("symmetric with a positive diagonal")
               && ContainsSubstring("spectral radius about 1, between 0.9"));
  CHECK_THAT((plan{shared(families::poisson_2d<double>(20)), {.method = method::bicgstab}}.why()),
             ContainsSubstring("named by the caller"));
}

// Ten steps of the power iteration find 0.947 for a grid's 0.9995: 252 terms were promised where it
// took 15,649.
TEST_CASE("the spectral radius is between its bounds, and what a series takes is not understated") {
  for (const index_type side : {5, 20, 60}) {
    const auto a = families::poisson_2d<double>(side);
    const auto p = measure(a);
    const double truth = std::cos(3.14159265358979 / (side + 1));
    CHECK(p.spectral_radius_low <= truth * (1 + 1e-12));
    CHECK(p.spectral_radius_high >= truth);
    CHECK(p.spectral_radius_low <= p.spectral_radius);
    CHECK(p.spectral_radius <= p.spectral_radius_high);
    if (side >= 20)
      CHECK(std::abs(p.spectral_radius - truth) <= truth - p.spectral_radius_low); // and nearer
  }
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const auto p = measure(families::dominant<double>(300, seed, 0.9, true));
    CHECK(p.spectral_radius_low <= p.spectral_radius);
    CHECK(p.spectral_radius <= p.spectral_radius_high);
    CHECK(p.spectral_radius_high <= 0.9 + 1e-12);
  }
  const plan grid{shared(families::poisson_2d<double>(60)), {}};
  const auto& why = grid.why();
  const auto at = why.find("at least ");
  REQUIRE(at != std::string::npos);
  const auto least = std::stod(why.substr(at + 9));
  const auto took = solve<double>(grid.matrix(), families::numbers<double>(3600, 1),
                                  {.method = method::neumann, .iteration_limit = 50'000});
  REQUIRE(took.state == state::converged);
  CHECK(static_cast<double>(took.iterations) >= least);
}

TEST_CASE("a named method that does not suit the matrix is refused") {
  const auto wind = [] { return families::convection<double>(9, 1.0); };
  CHECK(refusal(wind(), {.method = method::conjugate_gradient}) == errc::not_symmetric);
  CHECK(refusal(two_by_two(1, 2, 2, 1), {.method = method::neumann})
        == errc::no_convergence_expected);
  CHECK(refusal(two_by_two(0, 1, 1, 0), {.method = method::neumann}) == errc::zero_diagonal);
  CHECK(refusal(two_by_two(1, 2, 3, 1), {.method = method::forward_push})
        == errc::no_convergence_expected);
  CHECK(refusal(two_by_two(1, 2, 3, 1), {.method = method::random_walk, .entry = 0})
        == errc::no_convergence_expected);
  CHECK(refusal(two_by_two(4, 1, 1, 4), {.method = method::random_walk}) == errc::bad_option);
  CHECK(refusal(two_by_two(0, 1, 1, 0), {.preconditioner = preconditioning::jacobi})
        == errc::zero_diagonal);
  triplets<double> t{2, 3};
  t.add(0, 0, 1);
  CHECK(refusal(two_by_two(4, 1, 1, 4), {.tolerance = -1}) == errc::bad_option);
  CHECK(refusal(two_by_two(4, 1, 1, 4), {.tolerance = NAN}) == errc::bad_option);
  CHECK(refusal(two_by_two(4, 1, 1, 4), {.entry = 2}) == errc::bad_option);
  CHECK(refusal(two_by_two(4, 1, 1, 4), {.confidence = 1}) == errc::bad_option);
  CHECK_THROWS_AS(shared(std::move(t).build()), error);
}

TEST_CASE("methods and preconditioners are found by their names, and each name is another") {
  std::set<std::string_view> names;
  for (const auto m : all_methods()) {
    CHECK(method_from(to_string(m)) == m);
    names.insert(to_string(m));
  }
  CHECK(names.size() == all_methods().size());
  CHECK(names.count("random_walk") == 1);
  CHECK_FALSE(method_from("unknown"));
  for (const auto p :
       {preconditioning::automatic, preconditioning::none, preconditioning::jacobi,
        preconditioning::incomplete, preconditioning::threshold, preconditioning::nearly_complete})
    CHECK(preconditioning_from(to_string(p)) == p);
  CHECK_FALSE(preconditioning_from("unknown"));
  const auto beyond = static_cast<method>(all_methods().size());
  CHECK(refusal(two_by_two(4, 1, 1, 4), {.method = beyond}) == errc::bad_option);
}

// Every method runs as itself: a new one once ran BiCGSTAB under its own name.
TEST_CASE("each method that is named runs, under its name") {
  const auto a = shared(families::dominant<double>(60, 1, 0.4, true));
  const std::vector<double> b(60, 1.0);
  for (const auto m : all_methods()) {
    solve_options o{.method = m, .tolerance = 1e-3};
    if (computes_one_entry(m))
      o.entry = 3;
    if (m == method::direct && !with_direct_method) {
      CHECK_THROWS_AS((plan{a, o}), error);
      continue;
    }
    const auto r = solve<double>(a, b, o);
    CHECK(r.state == state::converged);
    CHECK((r.chosen == m || m == method::automatic));
  }
}

// ILU(0) with a pivot of 0 ended the chain: [1 1 .; 1 1 1; . 1 1] has u_22 = 1 - 1.
TEST_CASE("fallbacks go on after a factor with a pivot of 0") {
  triplets<double> t{3, 3};
  for (index_type i = 0; i < 3; ++i)
    for (index_type j = std::max<index_type>(0, i - 1); j < std::min<index_type>(3, i + 2); ++j)
      t.add(i, j, 1);
  const auto a = shared(std::move(t).build());
  auto next = std::optional<plan>{plan{a, {}}};
  REQUIRE(next->chosen() == method::conjugate_gradient);
  std::vector<std::pair<method, preconditioning>> tried;
  std::string whole;
  for (next = next->fallback(); next; next = next->fallback()) {
    tried.emplace_back(next->chosen(), next->preconditioner());
    whole += next->why();
  }
  using pair = std::pair<method, preconditioning>;
  auto expected = std::vector<pair>{{method::conjugate_gradient, preconditioning::incomplete},
                                    {method::direct, preconditioning::none},
                                    {method::gmres, preconditioning::threshold},
                                    {method::gmres, preconditioning::nearly_complete},
                                    {method::bicgstab, preconditioning::jacobi},
                                    {method::bicgstab, preconditioning::none}};
  if (!with_direct_method)
    expected.erase(expected.begin() + 1);
  CHECK(tried == expected);
  CHECK_THAT(whole, ContainsSubstring("pivot of 0"));
  const auto r = solve<double>(a, std::vector<double>{1, 2, 3});
  CHECK(r.state == state::converged);
}

TEST_CASE("what does not converge falls back, and the result tells the whole story") {
  // Symmetric with a positive diagonal, but indefinite: conjugate gradients break down.
  const auto a = shared(two_by_two(1, 3, 3, 1));
  const std::vector<double> b{1, 2};
  const auto r = solve<double>(a, b);
  CHECK(r.state == state::converged);
  CHECK(r.chosen == method::bicgstab);
  CHECK(r.x[0] == Approx(5.0 / 8));
  CHECK(r.x[1] == Approx(1.0 / 8));
  CHECK_THAT(r.why, ContainsSubstring("conjugate_gradient") && ContainsSubstring("bicgstab")
                      && ContainsSubstring("not positive definite"));
  const auto named = solve<double>(a, b, {.method = method::conjugate_gradient});
  CHECK(named.state == state::stalled); // the user's word holds
}

TEST_CASE("a singular system ends, and without infinities") {
  const auto r = solve<double>(shared(two_by_two(1, 1, 1, 1)), std::vector<double>{1, 2});
  CHECK(r.state != state::converged);
  CHECK(r.state != state::running);
  CHECK(std::isfinite(r.residual));
  for (const double x : r.x)
    CHECK(std::isfinite(x));
}

} // namespace basal::solver
