#include "support/catch.hpp"

#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "codesearch/page_rank.hpp"

using namespace codesearch;

namespace {

using edges = std::vector<include_graph::edge>;

// The textbook definition on a dense matrix: files without includes lead everywhere with equal
// probability; iterated until nothing moves.
std::vector<double> dense_page_rank(std::size_t n, const edges& list, double d) {
  std::vector<std::vector<double>> to(n, std::vector<double>(n, 0.0));
  for (const auto& [a, b] : list) {
    if (a != b) {
      to[a][b] = 1.0;
    }
  }
  for (auto& row : to) {
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    for (double& x : row) {
      x = sum == 0.0 ? 1.0 / static_cast<double>(n) : x / sum;
    }
  }
  std::vector<double> rank(n, 1.0 / static_cast<double>(n));
  for (int i = 0; i < 1000; ++i) {
    std::vector<double> next(n, (1.0 - d) / static_cast<double>(n));
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) {
        next[b] += d * rank[a] * to[a][b];
      }
    }
    rank = next;
  }
  return rank;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += std::abs(a[i] - b[i]);
  }
  return sum;
}

} // namespace

TEST_CASE("the series equals the textbook iteration on a dense matrix") {
  const auto seed = GENERATE(range(1u, 30u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  const std::size_t n = 1 + random() % 60;
  edges list;
  for (std::size_t i = random() % (4 * n); i > 0; --i) {
    list.emplace_back(random() % n, random() % n); // with cycles, loops and repetitions
  }
  const auto result = page_rank(include_graph(n, list));
  REQUIRE(result.converged);
  CHECK(distance(result.rank, dense_page_rank(n, list, 0.85)) < 2e-9);
  CHECK(std::accumulate(result.rank.begin(), result.rank.end(), 0.0) == Approx(1.0));
}

TEST_CASE("without cycles the series ends after the longest chain of includes") {
  edges chain;
  for (std::uint32_t i = 0; i + 1 < 5; ++i) {
    chain.emplace_back(i, i + 1);
  }
  const auto result = page_rank(include_graph(5, chain), {0.85, 0.0, 1000});
  CHECK(result.terms == 5);
  CHECK(result.converged);
  CHECK(std::is_sorted(result.rank.begin(), result.rank.end()));
}

TEST_CASE("a series that is cut off says so") {
  const auto result = page_rank(include_graph(2, {{0, 1}, {1, 0}}), {0.85, 1e-9, 3});
  CHECK_FALSE(result.converged);
  CHECK(result.terms == 3);
}

TEST_CASE("a graph without files or without edges has equal ranks") {
  CHECK(page_rank(include_graph(0, {})).rank.empty());
  CHECK(page_rank(include_graph(4, {})).rank == std::vector<double>(4, 0.25));
}

TEST_CASE("loops and repeated edges count once or not at all") {
  const include_graph graph(3, {{0, 1}, {0, 1}, {1, 1}, {0, 2}, {2, 0}});
  CHECK(graph.edges() == 3);
  CHECK(std::vector(graph.targets(0).begin(), graph.targets(0).end())
        == std::vector<std::uint32_t>{1, 2});
  CHECK(graph.targets(1).empty());
}
