// Batches of independent solves on one executor and on two: the four batches of RuVector's
// ADR-STS-009, whose spectral radii are fixed here so that a solve takes as many terms as it says
// there (5 and 8). Plans are made before; right-hand sides are not put together into blocks, which
// would make the batch of the same matrix another workload (see spmm8 in spmv.bench.cpp).

#include "bench/support/bench.hpp"

#include <basal/executors/executor_pool.hpp>
#include <basal/solver/batch.hpp>
#include <basal/solver/triplets.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace basal;

namespace {

using request = solver::solve_request<double>;
using plan_of = solver::solve_plan<double>;

/// Rows of eight entries whose Jacobi iteration matrix has row sums of absolute values, and so a
/// spectral radius, of at most `radius`; all signs equal, so that it is exactly that.
solver::linear_operator<double> system(solver::index_type size, double radius, unsigned seed) {
  std::mt19937 random{seed};
  std::uniform_int_distribution<solver::index_type> column{0, size - 1};
  std::uniform_real_distribution<double> value{0.1, 1};
  solver::triplets<double> entries{size, size};
  for (solver::index_type i = 0; i < size; ++i) {
    double sum = 0;
    for (int k = 0; k < 7; ++k) {
      const auto j = (i + 1 + column(random) % (size - 1)) % size;
      const auto v = value(random);
      entries.add(i, j, -v);
      sum += v;
    }
    entries.add(i, i, sum / radius);
  }
  return std::make_shared<const solver::csr_matrix<double>>(std::move(entries).build());
}

std::vector<double> right_hand_side(solver::index_type size, unsigned seed) {
  std::mt19937 random{seed};
  std::uniform_real_distribution<double> value{0, 1};
  std::vector<double> b(static_cast<std::size_t>(size));
  std::generate(b.begin(), b.end(), [&] { return value(random); });
  return b;
}

/// Plans of several matrices, so that a batch's working set is not one matrix in the first cache.
std::vector<plan_of> neumann_plans(solver::index_type size, double radius) {
  std::vector<plan_of> plans;
  for (unsigned seed = 42; seed < 58; ++seed)
    plans.emplace_back(system(size, radius, seed),
                       solver::solve_options{.method = solver::method::neumann});
  return plans;
}

std::vector<request> neumann(solver::index_type size, double radius, std::size_t count) {
  const auto plans = neumann_plans(size, radius);
  std::vector<request> requests;
  for (std::size_t i = 0; i < count; ++i)
    requests.emplace_back(plans[i % plans.size()], right_hand_side(size, static_cast<unsigned>(i)));
  return requests;
}

/// Rough estimates of single entries by 64 walks or so of five steps on average, after some pushes.
std::vector<request> walks(std::size_t count) {
  constexpr solver::index_type size = 1024;
  const auto a = system(size, 0.8, 42);
  const auto b = right_hand_side(size, 43);
  std::vector<plan_of> plans;
  for (solver::index_type entry = 0; entry < 64; ++entry)
    plans.emplace_back(a, solver::solve_options{.method = solver::method::random_walk,
                                                .tolerance = 0.9,
                                                .entry = entry * 16,
                                                .seed = 43,
                                                .walks_per_step = 32});
  std::vector<request> requests;
  for (std::size_t i = 0; i < count; ++i)
    requests.emplace_back(plans[i % plans.size()], b);
  return requests;
}

void add_batch(bench::plan& plan, const std::string& name, std::size_t count,
               std::function<std::vector<request>()> make) {
  const auto one = bench::case_name("batch-" + name, count, "basal", 1);
  for (int executors : {1, 2}) {
    plan.add(bench::case_name("batch-" + name, count, "basal", executors),
             [=](benchmark::State& state) {
               executors::pool_config config;
               config.executors = static_cast<std::size_t>(executors);
               executors::executor_pool pool{config};
               solver::batch_solver batches{pool};
               const auto requests = make();
               for (auto _ : state) {
                 auto mine = requests; // neither the copy nor the results' end is the batch's work
                 const auto start = std::chrono::steady_clock::now();
                 const auto outcomes = batches.solve_batch(std::move(mine), {.block_width = 1});
                 const std::chrono::duration<double> time
                   = std::chrono::steady_clock::now() - start;
                 state.SetIterationTime(time.count());
                 if (!std::all_of(outcomes.begin(), outcomes.end(), [](const auto& o) {
                       return !o.failure && o.result.state == solver::state::converged;
                     })) {
                   state.SkipWithError("a solve did not converge");
                   return;
                 }
               }
             },
             {.baseline = one, .manual_time = true});
  }
  plan.figure("batch_speedup_2_" + name,
              bench::ratio(one, bench::case_name("batch-" + name, count, "basal", 2)));
}

// One request after the other with the same matrix and no plan.
void add_requests(bench::plan& plan) {
  constexpr solver::index_type size = 1024;
  const auto name = [&](const char* impl) { return bench::case_name("request", size, impl, 1); };
  for (const bool cached : {false, true})
    plan.add(name(cached ? "cached_plan" : "new_plan"),
             [=](benchmark::State& state) {
               executors::executor_pool pool{{.executors = 1}};
               solver::solver_limits limits;
               if (!cached)
                 limits.plan_cache_bytes = 0;
               solver::batch_solver solves{pool, limits};
               const auto a = system(size, 0.15, 42);
               const auto b = right_hand_side(size, 43);
               for (auto _ : state) {
                 const auto outcome = solves.solve<double>({a, b});
                 if (outcome.failure || outcome.result.state != solver::state::converged) {
                   state.SkipWithError("the solve did not converge");
                   return;
                 }
               }
               if (cached && solves.stats().plans.misses != 1)
                 state.SkipWithError("the plan was not found again");
             },
             {.baseline = name("new_plan")});
  plan.figure("plan_cache_gain", bench::ratio(name("new_plan"), name("cached_plan")));
}

const bench::suite batch_suite{[](bench::plan& plan) {
  const std::size_t share = plan.quick() ? 4 : 1;
  const std::size_t solves = 1000 / share;
  const std::size_t estimates = 10'000 / share;
  add_batch(plan, "neumann128", solves, [=] { return neumann(128, 0.05, solves); });
  add_batch(plan, "neumann1024", solves, [=] { return neumann(1024, 0.15, solves); });
  add_batch(plan, "walk", estimates, [=] { return walks(estimates); });
  add_batch(plan, "mixed", solves + estimates / 2, [=] {
    auto requests = neumann(1024, 0.15, solves / 2);
    for (const auto& r : neumann(128, 0.05, solves / 2))
      requests.push_back(r);
    for (const auto& r : walks(estimates / 2))
      requests.push_back(r);
    std::shuffle(requests.begin(), requests.end(), std::mt19937{44});
    return requests;
  });
  add_requests(plan);
}};

} // namespace
