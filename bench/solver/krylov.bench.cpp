// Conjugate gradients against Eigen's fastest variant, to the same residual of the same system.
// A direct solver (SuiteSparse's CHOLMOD) is left out: it factorises, which is another trade.

#include "bench/solver/eigen_peer.hpp"
#include "bench/support/bench.hpp"
#include "tests/solver/families.hpp"

#include <basal/solver/kernels/vector.hpp>
#include <basal/solver/solve.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

using namespace basal;

namespace {

using variant = bench::eigen_peer::variant;
using matrix_ptr = std::shared_ptr<const solver::csr_matrix<double>>;

constexpr double tolerance = 1e-8;

bool solves(const solver::linear_operator<double>& a, const std::vector<double>& x,
            const std::vector<double>& b) {
  std::vector<double> r(b.size());
  const double squares = a.residual(x, b, r, solver::summation::native);
  const double norm = solver::kernels::dot<double>(b, b, solver::summation::native);
  return std::sqrt(squares / norm) <= 1.01 * tolerance;
}

template <class Solve>
void solve_case(benchmark::State& state, const matrix_ptr& a, Solve solve) {
  const auto b = families::numbers<double>(families::at(a->rows()), 1);
  std::vector<double> x;
  std::int64_t iterations = 0;
  for (auto _ : state)
    std::tie(x, iterations) = solve(b);
  state.counters["iterations"] = static_cast<double>(iterations);
  if (!solves(a, x, b))
    state.SkipWithError("wrong solution");
}

void ours(benchmark::State& state, const matrix_ptr& a, solver::preconditioning p) {
  const solver::solve_plan<double> plan{
    a, {.method = solver::method::conjugate_gradient, .preconditioner = p, .tolerance = tolerance}};
  solve_case(state, a, [&](const auto& b) {
    auto r = solver::solve<double>(plan, b);
    return std::pair{std::move(r.x), static_cast<std::int64_t>(r.iterations)};
  });
}

void eigen(benchmark::State& state, const matrix_ptr& a, variant v) {
  const bench::eigen_peer peer{*a};
  peer.solve(v, std::vector<double>(families::at(a->rows()), 1.0), 0.5); // makes its factor
  solve_case(state, a, [&](const auto& b) {
    auto s = peer.solve(v, b, tolerance);
    return std::pair{std::move(s.x), s.iterations};
  });
}

// Eigen's best median over ours.
bench::from_results against_best(std::vector<std::string> peers, std::string mine) {
  return [peers = std::move(peers), mine = std::move(mine)](const bench::results& r) {
    double best = std::numeric_limits<double>::infinity();
    for (const auto& peer : peers)
      best = std::min(best, r.median_ns(peer));
    return best / r.median_ns(mine);
  };
}

const bench::suite krylov_suite{[](bench::plan& plan) {
  const solver::index side = plan.quick() ? 100 : 300;
  const auto a
    = std::make_shared<const solver::csr_matrix<double>>(families::poisson_2d<double>(side));
  const auto size = "p2d_" + std::to_string(side * side);
  const auto add
    = [&](const char* workload, const char* impl, const std::string& baseline, auto run) {
        const auto name = bench::case_name(workload, size, impl, 1);
        plan.add(name, run, {.baseline = baseline.empty() ? name : baseline});
        return name;
      };
  const auto peer = [&a](variant v) { return [&, a, v](benchmark::State& s) { eigen(s, a, v); }; };
  const auto rows = add("cg", "eigen_rows", "", peer(variant::cg_rows));
  const auto columns = add("cg", "eigen_columns", rows, peer(variant::cg_columns));
  const auto jacobi = add(
    "cg", "basal", rows, [a](benchmark::State& s) { ours(s, a, solver::preconditioning::jacobi); });
  plan.figure("cg_vs_eigen", against_best({rows, columns}, jacobi));

  const auto natural = add("ic_cg", "eigen_natural", "", peer(variant::ic_natural));
  const auto amd = add("ic_cg", "eigen_amd", natural, peer(variant::ic_amd));
  const auto factor = add("ic_cg", "basal", natural, [a](benchmark::State& s) {
    ours(s, a, solver::preconditioning::incomplete);
  });
  plan.figure("ic_cg_vs_eigen", against_best({natural, amd}, factor));
}};

} // namespace
