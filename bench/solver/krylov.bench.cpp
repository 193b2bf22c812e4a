// Conjugate gradients against Eigen's fastest variant, and against a direct solver, SuiteSparse's
// CHOLMOD, to the same residual of the same system: with all that a new matrix takes (our plan,
// its ordering and factor), and with that made before.

#include "bench/solver/cholmod_peer.hpp"
#include "bench/solver/eigen_peer.hpp"
#include "bench/support/bench.hpp"
#include "tests/solver/families.hpp"

#include <basal/solver/detail/kernels/vector.hpp>
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

void cholmod(benchmark::State& state, const matrix_ptr& a, bool factored) {
  bench::cholmod_peer peer{*a, bench::cholmod_peer::kind::symmetric};
  peer.factorise();
  solve_case(state, a, [&](const auto& b) {
    if (!factored)
      peer.factorise();
    return std::pair{peer.solve(b, tolerance), std::int64_t{1}};
  });
}

// From a matrix of which nothing is known.
void ours_from_matrix(benchmark::State& state, const matrix_ptr& a) {
  const auto& m = *a;
  solve_case(state, a, [&](const auto& b) {
    // A new object, as its packed form stays with the old one; the copy is a few per cent.
    const auto fresh = std::make_shared<const solver::csr_matrix<double>>(
      m.rows(), m.columns(), std::vector(m.row_starts().begin(), m.row_starts().end()),
      std::vector(m.column_indices().begin(), m.column_indices().end()),
      std::vector(m.values().begin(), m.values().end()));
    auto r = solver::solve<double>({fresh}, b,
                                   {.method = solver::method::conjugate_gradient,
                                    .preconditioner = solver::preconditioning::incomplete,
                                    .tolerance = tolerance});
    return std::pair{std::move(r.x), static_cast<std::int64_t>(r.iterations)};
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
  const solver::index_type side = plan.quick() ? 100 : 300;
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

  const auto direct
    = add("ic_cg", "cholmod", natural, [a](benchmark::State& s) { cholmod(s, a, true); });
  plan.figure("ic_cg_vs_cholmod_factored", bench::ratio(direct, factor));
  const auto whole_direct
    = add("ic_cg_new", "cholmod", "", [a](benchmark::State& s) { cholmod(s, a, false); });
  const auto whole
    = add("ic_cg_new", "basal", whole_direct, [a](benchmark::State& s) { ours_from_matrix(s, a); });
  plan.figure("ic_cg_vs_cholmod", bench::ratio(whole_direct, whole));

  const solver::index_type edge = plan.quick() ? 20 : 40;
  const auto cube
    = std::make_shared<const solver::csr_matrix<double>>(families::poisson_3d<double>(edge));
  const auto volume = "p3d_" + std::to_string(edge * edge * edge);
  const auto name
    = [&](const char* impl) { return bench::case_name("ic_cg_new", volume, impl, 1); };
  plan.add(name("cholmod"), [cube](benchmark::State& s) { cholmod(s, cube, false); },
           {.baseline = name("cholmod")});
  plan.add(name("basal"), [cube](benchmark::State& s) { ours_from_matrix(s, cube); },
           {.baseline = name("cholmod")});
  plan.figure("ic_cg_vs_cholmod_3d", bench::ratio(name("cholmod"), name("basal")));
}};

} // namespace
