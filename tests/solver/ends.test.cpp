// When a method ends, and what it must have seen to say so.

#include <basal/solver/block_stepper.hpp>
#include <basal/solver/detail/aligned_array.hpp>
#include <basal/solver/detail/incomplete_factor.hpp>
#include <basal/solver/solve.hpp>
#include <basal/solver/triplets.hpp>

#include "families.hpp"
#include "support/catch.hpp"

namespace basal::solver {

namespace {

constexpr index_type n = 64;

// Products that are wrong by a thousandth, in another way each time: so that recurrences go where
// no residual follows.
linear_operator<double> inexact(std::shared_ptr<int> products) {
  return {n,
          [products](std::span<const double> x, std::span<double> y) {
            ++*products;
            for (std::size_t i = 0; i < n; ++i) {
              const auto noise = static_cast<double>((i * 7 + families::at(*products) * 13) % 11);
              y[i] = x[i] * (1.5 + static_cast<double>(i % 5) / 10) * (1 + 1e-3 * (noise - 5) / 5);
            }
          },
          std::vector<double>(n, 1.7)};
}

// Each unknown is the one before it, but the first is half the last: what b has only moves on, for
// as many steps as there are unknowns. Its spectral radius is 0.5^(1/count).
std::shared_ptr<const csr_matrix<double>> conveyor(index_type count) {
  triplets<double> t{count, count};
  for (index_type i = 0; i < count; ++i) {
    t.add(i, i, 1);
    t.add(i, (i + count - 1) % count, i == 0 ? -0.5 : -1.0);
  }
  return std::make_shared<const csr_matrix<double>>(std::move(t).build());
}

} // namespace

TEST_CASE("converged is said of a true residual alone") {
  for (const auto m : {method::neumann, method::conjugate_gradient, method::bicgstab}) {
    const auto products = std::make_shared<int>(0);
    const std::vector<double> b(n, 1.0);
    const auto r = solve<double>(inexact(products), b, {.method = m, .tolerance = 1e-9});
    INFO(to_string(m) << ": " << r.why << ", " << r.residual);
    CHECK(r.state == state::stalled);
    CHECK_THAT(r.why, ContainsSubstring("rounding errors keep the true residual above"));
    CHECK(r.residual > 1e-8); // each restart starts from a true one, and gains a thousand times
    CHECK(r.residual < 1e-2);
    // Each time that the recurrence said "converged" the truth was looked at, four times.
    CHECK(static_cast<std::uint64_t>(*products) >= r.iterations + 4);
  }
}

TEST_CASE(
  "a residual that is no better for as many steps as patience is a stall, then and no sooner") {
  const auto a = conveyor(400);
  std::vector<double> b(400, 0.0);
  b[10] = 1;
  const solve_plan<double> plan{{a}, {.method = method::neumann}};
  const auto r = solve<double>(plan, b);
  CHECK(r.state == state::stalled);
  CHECK(r.iterations == 100);
  CHECK(r.residual == Approx(1));
  CHECK_THAT(r.why, ContainsSubstring("does not get smaller any more"));

  // One of two columns of a block: the other one comes to the weak place before patience ends.
  std::vector<double> both(800, 0.0);
  both[2 * 10] = 1;
  both[2 * 330 + 1] = 1;
  std::vector<double> x(800, 0.0);
  detail::aligned_array<std::byte> scratch{block_stepper<double>::scratch_bytes(plan, 2)};
  block_stepper<double> block{plan, 2, both, x, {scratch.data(), scratch.size()}};
  while (block.step().state == state::running) {
  }
  CHECK(block.column(0).state == state::stalled);
  CHECK(block.steps(0) == 100);
  CHECK(block.column(1).state == state::stalled);
  CHECK(block.steps(1) > 100);
  CHECK(block.column(1).residual == Approx(0.5));
}

// In single precision the residual of a Poisson problem of that size stays above 1e-5, whatever the
// recurrence says.
TEST_CASE("a column of a block is converged by its true residual alone") {
  const auto a = std::make_shared<const csr_matrix<float>>(families::poisson_2d<float>(60));
  const solve_plan<float> plan{{a}, {.method = method::conjugate_gradient, .tolerance = 2e-6}};
  const std::vector<float> b(3600, 1.0f);
  std::vector<float> x(3600, 0.0f);
  detail::aligned_array<std::byte> scratch{block_stepper<float>::scratch_bytes(plan, 1)};
  block_stepper<float> block{plan, 1, b, x, {scratch.data(), scratch.size()}};
  while (block.step().state == state::running) {
  }
  CHECK(block.column(0).state == state::stalled);
  CHECK(block.column(0).residual > 2e-6);
}

// Kershaw's matrix (J. Comput. Phys. 26 (1978)), positive definite, whose IC(0) has a pivot of -5.
TEST_CASE(
  "where a pivot of IC(0) is not positive the diagonal grows by the first shift that helps") {
  triplets<double> t{4, 4};
  for (index_type i = 0; i < 4; ++i)
    t.add(i, i, 3);
  for (const auto& [i, j, v] : std::vector<std::tuple<index_type, index_type, double>>{
         {0, 1, -2}, {1, 2, -2}, {2, 3, -2}, {0, 3, 2}}) {
    t.add(i, j, v);
    t.add(j, i, v);
  }
  const auto a = std::make_shared<const csr_matrix<double>>(std::move(t).build());
  const auto factor = incomplete_factor<double>::cholesky(*a);
  CHECK(factor.shift() == Approx(0.256)); // of 0.001, 0.002, 0.004, ...
  const auto r = solve<double>({a}, std::vector<double>{1, 2, 3, 4},
                               {.method = method::conjugate_gradient,
                                .preconditioner = preconditioning::incomplete,
                                .tolerance = 1e-10});
  CHECK(r.state == state::converged);
  CHECK_THAT(r.why, ContainsSubstring("needed a diagonal larger by"));
  CHECK(incomplete_factor<double>::cholesky(families::poisson_2d<double>(9)).shift() == 0);
}

} // namespace basal::solver
