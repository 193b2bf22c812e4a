// Small Neumann solves, beside the predictions of RuVector's ADR-STS-009: 2-5 us for 128 x 128 and
// 20-80 us for 1024 x 1024. It leaves the spectral radius open, on which all depends; here the
// rows' ratio is 0.05 and 0.15, with eight entries off the diagonal, to 1e-6 relative. Its own
// benchmark cannot be compared: it iterates without the diagonal and diverges. The time includes
// the last look at the true residual; the plan is made once, as in a batch.

#include "bench/support/bench.hpp"
#include "tests/solver/families.hpp"

#include <basal/solver/detail/aligned_array.hpp>
#include <basal/solver/detail/kernels/vector.hpp>
#include <basal/solver/solve_plan.hpp>
#include <basal/solver/stepper.hpp>

#include <algorithm>

using namespace basal;

namespace {

void neumann(benchmark::State& state, solver::index_type n, double ratio, unsigned seed) {
  const auto a = std::make_shared<const solver::csr_matrix<double>>(
    families::dominant<double>(n, seed, ratio, false));
  const solver::solve_plan<double> plan{a, {.method = solver::method::neumann}};
  const auto b = families::numbers<double>(families::at(n), 1);
  std::vector<double> x(b.size());
  solver::detail::aligned_array<std::byte> scratch{plan.scratch_bytes()};
  std::uint64_t terms = 0;
  bool converged = true;
  for (auto _ : state) {
    std::fill(x.begin(), x.end(), 0.0);
    solver::stepper<double> s{plan, b, x, {scratch.data(), scratch.size()}};
    while (s.report().state == solver::state::running)
      s.step();
    converged = converged && s.report().state == solver::state::converged;
    terms = s.steps();
  }
  state.counters["terms"] = static_cast<double>(terms);
  std::vector<double> r(b.size());
  const double squares = plan.matrix().residual(x, b, r, solver::summation::native);
  const double norm = solver::kernels::dot<double>(b, b, solver::summation::native);
  if (!converged || squares > 1e-12 * norm)
    state.SkipWithError("not converged");
}

const bench::suite neumann_suite{[](bench::plan& plan) {
  const auto small = bench::case_name("neumann", 128, "basal", 1);
  const auto large = bench::case_name("neumann", 1024, "basal", 1);
  plan.add(small, [](benchmark::State& s) { neumann(s, 128, 0.05, 42); });
  plan.add(large, [](benchmark::State& s) { neumann(s, 1024, 0.15, 43); });
  const auto us = [](const std::string& name) {
    return [name](const bench::results& r) { return r.median_ns(name) / 1000; };
  };
  plan.figure("neumann128_us", us(small));
  plan.figure("neumann1024_us", us(large));
}};

} // namespace
