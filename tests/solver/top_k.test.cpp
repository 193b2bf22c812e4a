#include <basal/solver/top_k.hpp>

#include <basal/solver/errors.hpp>
#include <basal/solver/pagerank.hpp>
#include <basal/solver/solve.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "families.hpp"

using namespace basal::solver;
using matrix = csr_matrix<double>;

namespace {

std::shared_ptr<const matrix> ranks_of_links(index_type size, unsigned seed,
                                             double restart = 0.15) {
  return std::make_shared<const matrix>(
    pagerank_matrix(families::web_links<double>(size, seed), restart));
}

using sources = std::vector<std::pair<index_type, double>>;

std::vector<double> all_of(const std::shared_ptr<const matrix>& a, const sources& b) {
  std::vector<double> right(families::at(a->rows()), 0.0);
  for (auto [place, weight] : b)
    right[families::at(place)] += weight;
  return solve<double>(linear_operator<double>{a}, right, {.tolerance = 1e-14}).x;
}

/// The values of the k largest.
std::vector<double> largest(std::vector<double> x, std::size_t k) {
  std::sort(x.begin(), x.end(), std::greater<>{});
  x.resize(k);
  return x;
}

} // namespace

TEST_CASE("the k largest are those of the whole solution, within their intervals") {
  const auto a = ranks_of_links(3000, 7);
  const top_k_ranker<double> ranker{a};
  int certain = 0, settled = 0, questions = 0;
  for (index_type source = 0; source < 3000; source += 150)
    for (std::size_t k : {1u, 5u, 20u}) {
      const sources b{{source, 0.15}};
      const auto exact = all_of(a, b);
      const auto result = ranker.rank(b, {.k = k});
      const auto expected = largest(exact, k);
      REQUIRE(result.entries.size() <= k);
      for (std::size_t i = 0; i < result.entries.size(); ++i) {
        const auto& e = result.entries[i];
        CHECK(std::abs(e.value - exact[families::at(e.index)]) <= e.half_width + 1e-14);
        if (result.settled) {
          CHECK(e.half_width <= 1.01e-3 * e.value);
          CHECK(exact[families::at(e.index)] >= expected.back() * (1 - 4e-3));
        }
        if (result.certain) // as a set; their order may be another one within the intervals
          CHECK(exact[families::at(e.index)] >= expected.back() - 1e-14);
      }
      certain += result.certain ? 1 : 0;
      settled += result.settled ? 1 : 0;
      ++questions;
    }
  // If no link leads on, fewer than k entries are above 0, and some places are alike.
  CHECK(settled > questions / 2);
  CHECK(certain > questions / 4);
}

TEST_CASE("a question costs what lies around it, not the graph") {
  std::uint64_t most = 0;
  for (index_type size : {10'000, 40'000}) {
    const top_k_ranker<double> ranker{ranks_of_links(size, 3, 0.5)};
    const auto result = ranker.rank(sources{{size / 2, 0.5}}, {.k = 3});
    CHECK(result.settled);
    most = std::max(most, result.pushes);
  }
  CHECK(most < 200'000); // all of them, to this tolerance, would be millions
}

TEST_CASE("entries of a diagonal matrix, several sources, and places named twice") {
  const auto unit = std::make_shared<const matrix>(4, 4, std::vector<index_type>{0, 1, 2, 3, 4},
                                                   std::vector<index_type>{0, 1, 2, 3},
                                                   std::vector<double>{1, 2, 4, 8});
  const top_k_ranker<double> ranker{unit};
  const auto result = ranker.rank(sources{{3, 4}, {1, 1}, {3, 4}, {0, 0.25}}, {.k = 2});
  REQUIRE(result.entries.size() == 2);
  CHECK(result.certain);
  CHECK(result.entries[0].index == 3);
  CHECK(result.entries[0].value == 1);
  CHECK(result.entries[1].index == 1);
  CHECK(result.entries[1].value == 0.5);
  CHECK(ranker.rank(sources{}, {.k = 2}).entries.empty());
  CHECK(ranker.rank(sources{{2, 1}}, {.k = 100}).entries.size() == 1);
}

TEST_CASE("equal entries are never called certain, and a limit of pushes holds") {
  // A star: all leaves are alike.
  triplets<double> links{11, 11};
  for (index_type leaf = 1; leaf < 11; ++leaf) {
    links.add(0, leaf, 1);
    links.add(leaf, 0, 1);
  }
  const auto star = std::make_shared<const matrix>(pagerank_matrix(std::move(links).build(), 0.2));
  const top_k_ranker<double> ranker{star};
  CHECK(ranker.rank(sources{{0, 0.2}}, {.k = 1}).certain);
  const auto tied = ranker.rank(sources{{0, 0.2}}, {.k = 3});
  CHECK(tied.settled);
  CHECK_FALSE(tied.certain);
  CHECK(tied.entries.size() == 3);
  const auto limited = ranker.rank(sources{{0, 0.2}}, {.k = 3, .push_limit = 2});
  CHECK(limited.pushes == 2);
  CHECK_FALSE(limited.settled);
  const auto exact = all_of(star, {{0, 0.2}});
  for (const auto& e : limited.entries) {
    CHECK(e.value - e.half_width <= exact[families::at(e.index)] + 1e-14);
    CHECK(e.value + e.half_width >= exact[families::at(e.index)] - 1e-14);
  }
}

TEST_CASE("threads that ask one ranker get what one gets, and float is as good as it can") {
  const auto a = ranks_of_links(2000, 5, 0.3);
  const top_k_ranker<double> ranker{a};
  std::vector<top_k_result> alone, together(40);
  const auto ask = [&](std::size_t i) {
    return ranker.rank(sources{{static_cast<index_type>(i * 40), 0.3}}, {.k = 5});
  };
  for (std::size_t i = 0; i < together.size(); ++i)
    alone.push_back(ask(i));
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (auto i = t; i < together.size(); i += 4)
        together[i] = ask(i);
    });
  for (auto& t : threads)
    t.join();
  for (std::size_t i = 0; i < together.size(); ++i) {
    REQUIRE(alone[i].entries.size() == together[i].entries.size());
    CHECK(alone[i].pushes == together[i].pushes);
    for (std::size_t j = 0; j < alone[i].entries.size(); ++j) {
      CHECK(alone[i].entries[j].index == together[i].entries[j].index);
      CHECK(alone[i].entries[j].value == together[i].entries[j].value);
    }
  }
  const top_k_ranker<float> narrow{std::make_shared<const csr_matrix<float>>(
    pagerank_matrix(families::web_links<float>(2000, 5), 0.3))};
  const auto result = narrow.rank(std::vector<std::pair<index_type, float>>{{40, 0.3f}}, {.k = 1});
  REQUIRE(result.entries.size() == 1);
  CHECK(result.entries[0].index == alone[1].entries[0].index);
}

TEST_CASE("matrices, sources and options for which there are no bounds are refused") {
  const auto make = [](std::vector<double> values) {
    return std::make_shared<const matrix>(2, 2, std::vector<index_type>{0, 2, 4},
                                          std::vector<index_type>{0, 1, 0, 1}, std::move(values));
  };
  using ranker_type = top_k_ranker<double>;
  CHECK_THROWS_WITH(ranker_type{make({2, 1, -1, 2})}, ContainsSubstring("no M-matrix"));
  CHECK_THROWS_WITH(ranker_type{make({1, -1, -1, 1})}, ContainsSubstring("below 1"));
  const ranker_type ranker{make({2, -1, -1, 2})};
  CHECK_THROWS_WITH(ranker.rank(sources{{2, 1}}), ContainsSubstring("at place 2 of 2"));
  CHECK_THROWS_AS(ranker.rank(sources{{0, -1}}), error);
  CHECK_THROWS_AS(ranker.rank(sources{{0, std::nan("")}}), error);
  CHECK_THROWS_AS(ranker.rank(sources{{0, 1}}, {.k = 0}), error);
  CHECK_THROWS_AS(ranker.rank(sources{{0, 1}}, {.tolerance = 0}), error);
}
