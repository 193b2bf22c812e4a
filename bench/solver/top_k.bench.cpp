// The ten places that are nearest to a place of a graph by personalised PageRank, for several
// places: by pushes until ten are told apart to 0.1 %, and by the fastest of our solves of the
// whole system and a partial sort, on one executor and on two.

#include "bench/support/bench.hpp"
#include "tests/solver/families.hpp"

#include <basal/posse/algorithm.hpp>
#include <basal/posse/runtime.hpp>
#include <basal/solver/pagerank.hpp>
#include <basal/solver/solve.hpp>
#include <basal/solver/top_k.hpp>
#include <basal/solver/triplets.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace basal;

namespace {

constexpr double restart = 0.15;
constexpr std::size_t k = 10;
constexpr solver::index_type questions = 8;

using sources = std::vector<std::pair<solver::index_type, double>>;
using ranking = std::vector<std::pair<double, solver::index_type>>; // descending

struct graph {
  explicit graph(const solver::csr_matrix<double>& links) {
    a = std::make_shared<const solver::csr_matrix<double>>(solver::pagerank_matrix(links, restart));
    ranker = std::make_unique<solver::top_k_ranker<double>>(a);
    for (solver::index_type i = 0; i < questions; ++i)
      from.push_back(links.rows() / 4 + i * 17 + 1);
  }

  std::shared_ptr<const solver::csr_matrix<double>> a;
  std::unique_ptr<solver::top_k_ranker<double>> ranker;
  std::vector<solver::index_type> from;
};

// Links to the neighbours in the plane, of different weights.
solver::csr_matrix<double> plane(solver::index_type side) {
  solver::triplets<double> links{side * side, side * side};
  std::mt19937 random{1};
  std::uniform_real_distribution<double> weight{0.1, 1};
  const auto add
    = [&](solver::index_type i, solver::index_type j, solver::index_type x, solver::index_type y) {
        if (x >= 0 && y >= 0 && x < side && y < side)
          links.add(i * side + j, x * side + y, weight(random));
      };
  for (solver::index_type i = 0; i < side; ++i)
    for (solver::index_type j = 0; j < side; ++j) {
      add(i, j, i - 1, j);
      add(i, j, i + 1, j);
      add(i, j, i, j - 1);
      add(i, j, i, j + 1);
    }
  return std::move(links).build();
}

using problem = const graph& (*)(solver::index_type side);

// A web, whose every place is a few links from every other: the hardest case for pushes.
const graph& web(solver::index_type side) {
  static const graph made{families::web_links<double>(side * side, 1)}; // one size a run
  return made;
}

const graph& streets(solver::index_type side) {
  static const graph made{plane(side)};
  return made;
}

ranking by_pushes(const graph& g, solver::index_type from) {
  ranking result;
  const auto found = g.ranker->rank(sources{{from, restart}}, {.k = k});
  for (const auto& e : found.entries)
    result.emplace_back(e.value, e.index);
  return found.settled ? result : ranking{};
}

ranking by_solving(const solver::solve_plan<double>& plan, solver::index_type from) {
  std::vector<double> b(families::at(plan.matrix().size()), 0.0);
  b[families::at(from)] = restart;
  const auto solved = solver::solve<double>(plan, b);
  ranking all;
  for (std::size_t i = 0; i < b.size(); ++i)
    all.emplace_back(solved.x[i], static_cast<solver::index_type>(i));
  std::partial_sort(all.begin(), all.begin() + k, all.end(), std::greater<>{});
  all.resize(k);
  return all;
}

// To the tolerance of the pushes; in it neighbours may have changed places.
bool agree(const ranking& x, const ranking& y) {
  return x.size() == k && y.size() == k
         && std::equal(x.begin(), x.end(), y.begin(), [](const auto& p, const auto& q) {
              return std::abs(p.first - q.first) <= 4e-3 * q.first;
            });
}

void pushes(benchmark::State& state, const graph& g, std::size_t executors) {
  posse::runtime runtime{{.compute_executors = executors}};
  std::vector<ranking> found;
  for (auto _ : state)
    found
      = posse::map(runtime, g.from, [&g](solver::index_type from) { return by_pushes(g, from); });
  const solver::solve_plan<double> plan{g.a,
                                        {.method = solver::method::neumann, .tolerance = 1e-9}};
  for (std::size_t i = 0; i < found.size(); i += 3) // a solve each, and the others alike
    if (!agree(found[i], by_solving(plan, g.from[i])))
      state.SkipWithError("a wrong ranking");
}

void solves(benchmark::State& state, const graph& g) {
  const solver::solve_plan<double> plan{g.a,
                                        {.method = solver::method::neumann, .tolerance = 1e-6}};
  std::vector<ranking> found(g.from.size());
  for (auto _ : state)
    std::transform(g.from.begin(), g.from.end(), found.begin(),
                   [&plan](solver::index_type from) { return by_solving(plan, from); });
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!agree(by_pushes(g, g.from[i]), found[i]))
      state.SkipWithError("a wrong ranking");
}

void add_problem(bench::plan& plan, problem p, const std::string& which) {
  const solver::index_type side = plan.quick() ? 220 : 450;
  const auto name = [&](const char* impl, int executors) {
    return bench::case_name("top_10", which + "_" + std::to_string(side * side / 1000) + "k", impl,
                            executors);
  };
  plan.add(name("solve", 1), [=](benchmark::State& s) { solves(s, p(side)); },
           {.baseline = name("solve", 1)});
  for (int executors : {1, 2})
    plan.add(name("basal", executors),
             [=](benchmark::State& s) { pushes(s, p(side), static_cast<std::size_t>(executors)); },
             {.baseline = name("solve", 1)});
  plan.figure("top_k_vs_solve_" + which, bench::ratio(name("solve", 1), name("basal", 1)));
  plan.figure("top_k_speedup_2_" + which, bench::ratio(name("basal", 1), name("basal", 2)));
}

const bench::suite top_k_suite{[](bench::plan& plan) {
  add_problem(plan, web, "web");
  add_problem(plan, streets, "streets");
}};

} // namespace
