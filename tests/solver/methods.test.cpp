// All methods in one file: they are held against the same families of systems and the same oracle.

#include <basal/solver/block_stepper.hpp>
#include <basal/solver/detail/aligned_array.hpp>
#include <basal/solver/detail/random.hpp>
#include <basal/solver/eigen.hpp>
#include <basal/solver/pagerank.hpp>
#include <basal/solver/solve.hpp>
#include <basal/solver/stepper.hpp>

#include "families.hpp"
#include "support/catch.hpp"

#include <Eigen/SparseLU>

#include <cstring>

namespace basal::solver {

namespace {

using families::numbers;
using vector = Eigen::VectorXd;

template <class T>
linear_operator<T> shared(csr_matrix<T> a) {
  return std::make_shared<const csr_matrix<T>>(std::move(a));
}

// Eigen's direct solver as the judge, which also estimates |A^-1| (2-norm).
class oracle {
public:
  explicit oracle(const csr_matrix<double>& a) : columns_(as_eigen(a)) {
    lu_.compute(columns_);
    REQUIRE(lu_.info() == Eigen::Success);
    const Eigen::SparseMatrix<double> transposed = columns_.transpose();
    Eigen::SparseLU<Eigen::SparseMatrix<double>> adjoint{transposed};
    vector v = vector::Random(a.rows()).normalized();
    for (int i = 0; i < 30; ++i) {
      const vector w = lu_.solve(v);
      const vector u = adjoint.solve(w);
      inverse_norm_ = std::sqrt(u.norm());
      v = u.normalized();
    }
  }

  vector solve(const std::vector<double>& b) const {
    return lu_.solve(Eigen::Map<const vector>{b.data(), columns_.rows()});
  }

  // |x - A^-1 b| <= |A^-1| |b - A x|: the power iteration finds most of |A^-1|, hence the 2.
  double error_bound(double residual, const std::vector<double>& b) const {
    const auto norm = Eigen::Map<const vector>{b.data(), columns_.rows()}.norm();
    return 2 * inverse_norm_ * residual * norm;
  }

  double residual(const std::vector<double>& x, const std::vector<double>& b) const {
    const Eigen::Map<const vector> right{b.data(), columns_.rows()};
    return (right - columns_ * Eigen::Map<const vector>{x.data(), columns_.rows()}).norm()
           / right.norm();
  }

  // The largest effect of rounding on a residual.
  double rounding(const std::vector<double>& x, const std::vector<double>& b) const {
    const auto n = columns_.rows();
    const vector sizes = columns_.cwiseAbs() * Eigen::Map<const vector>{x.data(), n}.cwiseAbs();
    return 4e-15 * sizes.norm() / Eigen::Map<const vector>{b.data(), n}.norm();
  }

private:
  Eigen::SparseMatrix<double> columns_;
  Eigen::SparseLU<Eigen::SparseMatrix<double>> lu_;
  double inverse_norm_ = 0;
};

// With the router's choice, and with every method that accepts the matrix. Returns how many
// methods converged.
int check_against_oracle(csr_matrix<double> matrix, unsigned seed) {
  const oracle truth{matrix};
  const auto a = shared(std::move(matrix));
  const auto b = numbers<double>(families::at(a.size()), seed);
  const auto expected = truth.solve(b);
  constexpr double tolerance = 1e-8;
  int converged = 0;
  for (const auto m : {method::automatic, method::neumann, method::conjugate_gradient,
                       method::bicgstab, method::forward_push}) {
    for (const auto p : {preconditioning::automatic, preconditioning::none, preconditioning::jacobi,
                         preconditioning::incomplete}) {
      const bool krylov = m == method::conjugate_gradient || m == method::bicgstab;
      if (!krylov && p != preconditioning::automatic)
        continue;
      INFO(to_string(m) << " with " << to_string(p));
      solve_options o{.method = m, .preconditioner = p, .tolerance = tolerance};
      if (m == method::forward_push)
        o.iteration_limit = 200; // it is for b with few entries; here it shows that it is right
      solve_result<double> r;
      try {
        r = solve<double>(a, b, o);
      } catch (const error&) {
        REQUIRE(m != method::automatic);
        continue;
      }
      INFO(r.why);
      const double residual = truth.residual(r.x, b);
      const double rounding = truth.rounding(r.x, b);
      CHECK(residual == Approx(r.residual).epsilon(1e-6).margin(rounding)); // reports are true
      if (m == method::automatic)
        CHECK(r.state == state::converged);
      if (r.state != state::converged)
        continue;
      ++converged;
      CHECK(residual <= tolerance + rounding);
      const Eigen::Map<const vector> x{r.x.data(), a.size()};
      CHECK((x - expected).norm() <= truth.error_bound(tolerance, b) + 1e-13 * expected.norm());
    }
  }
  return converged;
}

// A stepper with memory of its own.
template <class T>
struct single {
  single(const solve_plan<T>& plan, std::span<const T> b, std::span<T> x)
    : scratch(plan.scratch_bytes()), steps(plan, b, x, {scratch.data(), scratch.size()}) {
  }

  detail::aligned_array<std::byte> scratch;
  stepper<T> steps;
};

} // namespace

TEST_CASE("all methods solve Poisson systems") {
  for (index_type side = 1; side <= 14; ++side)
    CHECK(check_against_oracle(families::poisson_2d<double>(side), 1) >= 7);
  for (index_type side = 1; side <= 6; ++side)
    CHECK(check_against_oracle(families::poisson_3d<double>(side), 2) >= 7);
}

TEST_CASE("all methods that accept them solve graph Laplacians, some nearly singular") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    CHECK(check_against_oracle(families::laplacian<double>(60, seed, 1), seed) >= 7);
    CHECK(check_against_oracle(families::laplacian<double>(60, seed, 1e-3), seed) >= 4);
    CHECK(check_against_oracle(families::laplacian<double>(40, seed, 1e-6), seed) >= 3);
  }
}

TEST_CASE("all methods that accept them solve convection-diffusion systems") {
  for (index_type side = 2; side <= 12; ++side) {
    CHECK(check_against_oracle(families::convection<double>(side, 0.1), 3) >= 4);
    CHECK(check_against_oracle(families::convection<double>(side, 5), 4) >= 4);
  }
}

TEST_CASE("all methods that accept them solve random dominant systems") {
  for (unsigned seed = 1; seed <= 25; ++seed) {
    CHECK(check_against_oracle(families::dominant<double>(80, seed, 0.3, true), seed) >= 7);
    CHECK(check_against_oracle(families::dominant<double>(80, seed, 0.95, false), seed) >= 4);
  }
}

TEST_CASE("all methods that accept them solve PageRank systems of power-law graphs") {
  for (unsigned seed = 1; seed <= 20; ++seed)
    CHECK(check_against_oracle(pagerank_matrix(families::web_links<double>(150, seed), 0.15), seed)
          >= 4);
}

// From some places of this graph the first products only move what b has, so that r'Ar is 0:
// BiCGSTAB stopped with a residual of 0.03.
TEST_CASE("BiCGSTAB goes on where a right-hand side of one entry breaks it down") {
  const auto a = std::make_shared<const csr_matrix<double>>(
    pagerank_matrix(families::web_links<double>(3000, 7), 0.15));
  for (const index_type source : {300, 1500, 2700}) {
    std::vector<double> b(3000, 0.0);
    b[families::at(source)] = 0.15;
    const auto r = solve<double>({a}, b, {.method = method::bicgstab, .tolerance = 1e-12});
    CHECK(r.state == state::converged);
    CHECK(r.residual <= 1e-12);
  }
}

TEST_CASE("float systems converge to what float can represent") {
  for (index_type side = 2; side <= 20; ++side) {
    const auto a = shared(families::poisson_2d<float>(side));
    const auto b = numbers<float>(families::at(a.size()), 5);
    const auto r = solve<float>(a, b, {.tolerance = 1e-5});
    CHECK(r.state == state::converged);
    std::vector<float> left(b.size());
    const double squares = a.residual(r.x, b, left, summation::portable);
    double norm = 0;
    for (const float x : b)
      norm += static_cast<double>(x) * static_cast<double>(x);
    CHECK(std::sqrt(squares / norm) <= 1.1e-5);
  }
}

TEST_CASE("forward push touches only what is near") {
  triplets<double> ring{20'000, 20'000};
  for (index_type i = 0; i < 20'000; ++i) {
    ring.add(i, (i + 1) % 20'000, 1);
    ring.add(i, (i + 19'999) % 20'000, 1);
  }
  const auto a = shared(pagerank_matrix(std::move(ring).build(), 0.15));
  std::vector<double> b(20'000, 0.0);
  b[19'990] = 1;
  const auto r = solve<double>(a, b, {.method = method::forward_push});
  CHECK(r.state == state::converged);
  CHECK(r.residual <= 1e-6);
  CHECK(std::ranges::count_if(r.x, [](double x) { return x != 0; }) < 200);
}

TEST_CASE("backward push gives an interval that holds the entry for certain") {
  const auto matrix = families::dominant<double>(300, 1, 0.8, false);
  const oracle truth{matrix};
  const auto a = shared(families::dominant<double>(300, 1, 0.8, false));
  const auto b = numbers<double>(300, 2);
  const auto expected = truth.solve(b);
  for (index_type entry = 0; entry < 300; entry += 7) {
    const solve_plan<double> plan{a, {.method = method::backward_push, .entry = entry}};
    double x = 0;
    single<double> s{plan, b, {&x, 1}};
    while (s.steps.report().state == state::running) {
      s.steps.step();
      CHECK(std::abs(x - expected[entry]) <= s.steps.half_width());
    }
    CHECK(s.steps.report().state == state::converged);
    CHECK(s.steps.half_width() <= 1e-6 * std::abs(x) * (1 + 1e-9));
  }
}

TEST_CASE("walks are inside their intervals at the stated rate over 1000 seeds") {
  const auto b = numbers<double>(1000, 2);
  const auto a = shared(families::dominant<double>(1000, 1, 0.7, false));
  const auto x_true = solve<double>(a, b, {.method = method::bicgstab, .tolerance = 1e-13}).x;
  const auto largest = std::ranges::max_element(
    x_true, {}, [](double v) { return std::abs(v); }); // relative to 0 no interval is narrow
  const auto entry = static_cast<index_type>(largest - x_true.begin());
  const double expected = *largest;
  const solve_plan<double> plan{a,
                                {.method = method::random_walk, .tolerance = 0.05, .entry = entry}};
  int inside = 0;
  std::uint64_t walks = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const auto seeded = plan.with_seed(seed);
    double x = 0;
    single<double> s{seeded, b, {&x, 1}};
    while (s.steps.report().state == state::running && s.steps.steps() < 3000)
      s.steps.step();
    REQUIRE(s.steps.report().state == state::converged);
    CHECK(s.steps.half_width() <= 0.05 * std::abs(x) * (1 + 1e-9)); // no vacuous intervals
    inside += std::abs(x - expected) <= s.steps.half_width() ? 1 : 0;
    walks += s.steps.walks();
  }
  CHECK(walks > 1000 * 256); // it was not all pushing
  CHECK(inside >= 950);
}

TEMPLATE_TEST_CASE("an interval is never narrower than rounding errors", "", double, float) {
  for (const auto by : {method::random_walk, method::backward_push})
    for (const double tolerance : {0., 1e-3})
      for (int k = 0; k < 100; ++k) {
        const auto corner = static_cast<TestType>(4 + k * 0.01);
        triplets<TestType> t{2, 2};
        t.add(0, 0, corner);
        t.add(0, 1, 1);
        t.add(1, 0, 1);
        t.add(1, 1, 3);
        const TestType b[] = {1, 2};
        const auto r = solve<TestType>(shared(std::move(t).build()), b,
                                       {.method = by, .tolerance = tolerance, .entry = 1});
        const long double truth = (2.L * corner - 1) / (3.L * corner - 1);
        CHECK(std::abs(r.x[0] - truth) <= r.half_width);
        CHECK(r.half_width < 1e-3);
        // 4 epsilons of a double, as 0 asks, are less than its rounding errors.
        const bool is_too_much = tolerance == 0 && std::is_same_v<TestType, double>;
        CHECK(r.state == (is_too_much ? state::stalled : state::converged));
      }
}

TEST_CASE("walks depend on seed and number alone, not on how they are batched") {
  const auto a = shared(families::dominant<double>(2000, 1, 0.9, false));
  const auto b = numbers<double>(2000, 2);
  const auto after_1024_walks = [&](std::uint32_t walks_per_step, std::uint64_t seed) {
    solve_options o{.method = method::random_walk, .tolerance = 0, .entry = 3};
    o.walks_per_step = walks_per_step;
    o.seed = seed;
    const solve_plan<double> plan{a, o};
    double x = 0;
    single<double> s{plan, b, {&x, 1}};
    while (s.steps.walks() < 1024)
      s.steps.step();
    return x;
  };
  // The same number of looks at the same numbers of walks, hence 1024 alone and 4 x 256.
  CHECK(after_1024_walks(1024, 1) == after_1024_walks(1024, 1));
  CHECK(after_1024_walks(1024, 1) == Approx(after_1024_walks(256, 1)).epsilon(1e-12));
  CHECK(after_1024_walks(1024, 1) != after_1024_walks(1024, 2));
}

TEST_CASE("Philox gives the published words") {
  // Known answers of Random123 1.14, philox4x32 with 10 rounds.
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0})
        == std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff})
        == std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0})
        == std::array<std::uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("an entry by a method that computes all of x is that entry") {
  const auto a = shared(families::poisson_2d<double>(12));
  const auto b = numbers<double>(144, 1);
  const auto all = solve<double>(a, b);
  const auto one = solve<double>(a, b, {.entry = 70});
  REQUIRE(one.x.size() == 1);
  CHECK(one.x[0] == all.x[70]);
}

TEST_CASE("a divergent series ends, says so, and leaves finite numbers") {
  // I - D^-1 A has the spectral radius 0.999 in ten steps from a random vector, and more truly.
  triplets<double> t{40, 40};
  for (index_type i = 0; i < 40; ++i) {
    t.add(i, i, 1);
    t.add(i, (i + 1) % 40, i == 39 ? 1e12 : 0.4);
  }
  const auto a = shared(std::move(t).build());
  const std::vector<double> b(40, 1.0);
  try {
    const auto r = solve<double>(a, b, {.method = method::neumann, .iteration_limit = 100'000});
    CHECK(r.state == state::diverged);
    CHECK(std::isfinite(r.residual));
    for (const double x : r.x)
      CHECK(std::isfinite(x));
  } catch (const error& e) {
    CHECK(e.code() == errc::no_convergence_expected); // the check beforehand saw it
  }
}

TEST_CASE("the spectral radius decides how many terms a series needs") {
  for (const double rho : {0.1, 0.5, 0.9}) {
    triplets<double> t{64, 64};
    for (index_type i = 0; i < 64; ++i) { // a ring: all eigenvalues of I - D^-1 A within +- rho
      t.add(i, i, 1);
      t.add(i, (i + 1) % 64, -rho / 2);
      t.add(i, (i + 63) % 64, -rho / 2);
    }
    const auto r = solve<double>(shared(std::move(t).build()), std::vector<double>(64, 1.0),
                                 {.method = method::neumann});
    CHECK(r.state == state::converged);
    const double terms = std::log(1e-6) / std::log(rho);
    CHECK(static_cast<double>(r.iterations) == Approx(terms).margin(1.01));
  }
}

TEST_CASE("steps end exactly at their limit") {
  const auto a = shared(families::poisson_2d<double>(30));
  const auto b = numbers<double>(900, 1);
  for (const std::uint64_t limit : {0u, 1u, 17u}) {
    const auto r = solve<double>(a, b, {.tolerance = 1e-12, .iteration_limit = limit});
    CHECK(r.state == state::budget_exhausted);
    CHECK(r.iterations == limit);
    CHECK(std::isfinite(r.residual));
  }
  const auto none = solve<double>(a, b, {.iteration_limit = 0});
  CHECK(none.residual == 1);
  CHECK(std::ranges::all_of(none.x, [](double x) { return x == 0; }));
}

TEST_CASE("a tolerance of 0 means as exact as possible, and ends") {
  const auto a = shared(families::poisson_2d<double>(10));
  const auto b = numbers<double>(100, 1);
  for (const auto m : {method::conjugate_gradient, method::bicgstab, method::neumann}) {
    const auto r = solve<double>(a, b, {.method = m, .tolerance = 0});
    CHECK((r.state == state::converged || r.state == state::stalled));
    CHECK(r.residual < 1e-14);
  }
}

TEST_CASE("b = 0 has the solution 0 without a step") {
  const auto a = shared(families::poisson_2d<double>(4));
  for (const auto m :
       {method::automatic, method::neumann, method::bicgstab, method::forward_push}) {
    const auto r = solve<double>(a, std::vector<double>(16, 0.0), {.method = m});
    CHECK(r.state == state::converged);
    CHECK(r.residual == 0);
    CHECK(r.iterations == 0);
    CHECK(std::ranges::all_of(r.x, [](double x) { return x == 0; }));
  }
}

TEST_CASE("a first guess is used, and may be good enough") {
  const auto a = shared(families::poisson_2d<double>(20));
  const auto b = numbers<double>(400, 1);
  const solve_plan<double> plan{a, {.tolerance = 1e-9}};
  auto x = solve<double>(plan, b).x;
  {
    single<double> again{plan, b, x};
    CHECK(again.steps.report().state == state::converged);
    CHECK(again.steps.step().state == state::converged);
    CHECK(again.steps.steps() == 0);
  }
  x[5] += 1e-3;
  single<double> near{plan, b, x};
  std::vector<double> zero(400, 0.0);
  single<double> far{plan, b, zero};
  while (near.steps.step().state == state::running) {
  }
  while (far.steps.step().state == state::running) {
  }
  CHECK(near.steps.steps() < far.steps.steps());
}

TEST_CASE("a first guess beyond measure is replaced by zeros") {
  triplets<double> t{64, 64};
  for (index_type i = 0; i < 64; ++i) {
    t.add(i, i, 1e4);
    t.add(i, 63 - i, 1);
  }
  const auto a = shared(std::move(t).build());
  const auto b = numbers<double>(64, 1);
  for (const auto m :
       {method::neumann, method::conjugate_gradient, method::bicgstab, method::forward_push}) {
    std::vector<double> x(64, 1e153); // their square is finite, but not that of A x
    const solve_plan<double> plan{a, {.method = m}};
    single<double> s{plan, b, x};
    CHECK(s.steps.report().residual == 1);
    while (s.steps.step().state == state::running) {
    }
    CHECK(s.steps.report().state == state::converged);
  }
}

TEST_CASE("vectors that do not fit or are not finite are refused") {
  const solve_plan<double> plan{shared(families::poisson_2d<double>(4)), {}};
  const auto refusal = [&](std::vector<double> b, std::vector<double> x) {
    try {
      single<double> s{plan, b, x};
    } catch (const error& e) {
      return e.code();
    }
    return errc{};
  };
  const std::vector<double> good(16, 1.0);
  auto nan = good;
  nan[3] = NAN;
  auto infinite = good;
  infinite[15] = INFINITY;
  const std::vector<double> huge(16, 1e200);
  const std::vector<double> tiny(16, 1e-200);
  CHECK(refusal(good, good) == errc{});
  CHECK(refusal(std::vector<double>(15, 1.0), good) == errc::dimension_mismatch);
  CHECK(refusal(good, std::vector<double>(17, 1.0)) == errc::dimension_mismatch);
  CHECK(refusal(nan, good) == errc::not_finite);
  CHECK(refusal(infinite, good) == errc::not_finite);
  CHECK(refusal(good, nan) == errc::not_finite);
  CHECK(refusal(huge, good) == errc::not_finite);
  CHECK(refusal(tiny, good) == errc::not_finite);
}

TEST_CASE("a matrix-free operator gives what its matrix gives") {
  const auto matrix = std::make_shared<const csr_matrix<double>>(families::poisson_2d<double>(15));
  const linear_operator<double> stored{matrix};
  const linear_operator<double> free{
    225,
    [matrix](std::span<const double> x, std::span<double> y) {
      for (index_type r = 0; r < 225; ++r) {
        double sum = 0;
        for (std::size_t k = 0; k < matrix->row_values(r).size(); ++k)
          sum += matrix->row_values(r)[k] * x[families::at(matrix->row_columns(r)[k])];
        y[families::at(r)] = sum;
      }
    },
    matrix->diagonal()};
  const auto b = numbers<double>(225, 1);
  for (const auto m : {method::automatic, method::conjugate_gradient, method::neumann}) {
    const auto x = solve<double>(stored, b, {.method = m, .tolerance = 1e-10});
    const auto y = solve<double>(free, b, {.method = m, .tolerance = 1e-10});
    REQUIRE(y.state == state::converged);
    for (std::size_t i = 0; i < 225; ++i)
      CHECK(y.x[i] == Approx(x.x[i]).epsilon(1e-7));
  }
  CHECK_THROWS_AS(solve<double>(free, b, {.method = method::forward_push}), error);
}

TEST_CASE("blocks of right-hand sides give what single ones give") {
  for (const auto m : {method::neumann, method::conjugate_gradient}) {
    const auto a = shared(families::dominant<double>(200, 1, 0.6, true));
    const solve_plan<double> plan{a, {.method = m, .preconditioner = preconditioning::jacobi}};
    REQUIRE(block_stepper<double>::supports(plan));
    for (const std::size_t width : {1u, 3u, 8u, 16u}) {
      auto b = numbers<double>(200 * width, 2);
      if (width > 1) { // one column of zeros among them
        for (std::size_t i = 0; i < 200; ++i)
          b[i * width + 1] = 0;
      }
      std::vector<double> x(200 * width, 0.0);
      detail::aligned_array<std::byte> scratch{block_stepper<double>::scratch_bytes(plan, width)};
      block_stepper<double> block{plan, width, b, x, {scratch.data(), scratch.size()}};
      while (block.step().state == state::running) {
      }
      for (std::size_t k = 0; k < width; ++k) {
        CHECK(block.column(k).state == state::converged);
        std::vector<double> own(200);
        for (std::size_t i = 0; i < 200; ++i)
          own[i] = b[i * width + k];
        const auto alone = solve<double>(plan, own);
        for (std::size_t i = 0; i < 200; ++i)
          CHECK(x[i * width + k] == Approx(alone.x[i]).margin(1e-5));
        if (std::ranges::any_of(own, [](double v) { return v != 0; }))
          CHECK(
            std::abs(static_cast<double>(block.steps(k)) - static_cast<double>(alone.iterations))
            <= 2);
      }
    }
  }
}

TEST_CASE("a failing column of a block fails alone") {
  // Positive definite on vectors whose last entry is 0, indefinite beyond.
  triplets<double> t{3, 3};
  t.add(0, 0, 2);
  t.add(0, 1, 1);
  t.add(1, 0, 1);
  t.add(1, 1, 2);
  t.add(2, 2, -1);
  const auto a = shared(std::move(t).build());
  const solve_plan<double> plan{
    a, {.method = method::conjugate_gradient, .preconditioner = preconditioning::none}};
  const std::vector<double> b{1, 0, 2, 0, 0, 1}; // columns (1, 2, 0) and (0, 0, 1)
  std::vector<double> x(6, 0.0);
  detail::aligned_array<std::byte> scratch{block_stepper<double>::scratch_bytes(plan, 2)};
  block_stepper<double> block{plan, 2, b, x, {scratch.data(), scratch.size()}};
  step_report last;
  while ((last = block.step()).state == state::running) {
  }
  CHECK(last.state == state::stalled);
  CHECK(block.column(0).state == state::converged);
  CHECK(block.column(1).state == state::stalled);
  CHECK(x[0] == Approx(0).margin(1e-6));
  CHECK(x[2] == Approx(1));
}

TEST_CASE("PageRank agrees with the power iteration of its definition") {
  const auto links = families::web_links<double>(400, 3);
  std::vector<double> restarts(400, 0.0);
  restarts[3] = 2;
  restarts[250] = 1;
  const auto r = personalised_pagerank<double>(links, restarts, {.solving = {.tolerance = 1e-12}});
  REQUIRE(r.state == state::converged);
  std::vector<double> rank(400, 1.0 / 400);
  for (int round = 0; round < 300; ++round) {
    std::vector<double> next(400, 0.0);
    double lost = 0;
    for (index_type i = 0; i < 400; ++i) {
      const auto weights = links.row_values(i);
      double sum = 0;
      for (const double w : weights)
        sum += w;
      if (sum == 0)
        lost += rank[families::at(i)];
      for (std::size_t k = 0; k < weights.size(); ++k)
        next[families::at(links.row_columns(i)[k])]
          += 0.85 * rank[families::at(i)] * weights[k] / sum;
    }
    for (std::size_t i = 0; i < 400; ++i)
      next[i] += (0.15 + 0.85 * lost) * restarts[i] / 3;
    rank = next;
  }
  for (std::size_t i = 0; i < 400; ++i)
    CHECK(r.x[i] == Approx(rank[i]).margin(1e-10));
}

TEST_CASE("the PageRank of one place, by walks and by pushes") {
  const auto links = families::web_links<double>(400, 3);
  pagerank_options o;
  o.solving.method = method::backward_push;
  const auto certain = pagerank_of<double>(links, 5, 0, o);
  REQUIRE(certain.state == state::converged);
  o.solving = {.method = method::random_walk, .tolerance = 0.05};
  const auto walked = pagerank_of<double>(links, 5, 0, o);
  CHECK(walked.state == state::converged);
  CHECK(std::abs(walked.x[0] - certain.x[0]) <= walked.half_width + certain.half_width);
}

} // namespace basal::solver
