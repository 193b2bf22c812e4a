#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "../families.hpp"
#include "../hard_families.hpp"
#include "factor/cuthill_mckee.hpp"
#include "factor/symbolic_fill.hpp"
#include "support/catch.hpp"

namespace basal::solver::detail {

namespace {

std::size_t at(index_type i) {
  return static_cast<std::size_t>(i);
}

std::vector<index_type> as_it_is(index_type n) {
  std::vector<index_type> order(at(n));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// The same matrix with its unknowns in another order, drawn by `seed`.
csr_matrix<double> shuffled(const csr_matrix<double>& a, unsigned seed) {
  const auto place = families::detail::draws{seed}.permutation(a.rows());
  triplets<double> t{a.rows(), a.rows()};
  for (index_type r = 0; r < a.rows(); ++r)
    for (std::size_t k = 0; k < a.row_columns(r).size(); ++k)
      t.add(place[at(r)], place[at(a.row_columns(r)[k])], a.row_values(r)[k]);
  return std::move(t).build();
}

index_type bandwidth(const csr_matrix<double>& a, const std::vector<index_type>& order) {
  std::vector<index_type> place(order.size());
  for (std::size_t k = 0; k < order.size(); ++k)
    place[at(order[k])] = static_cast<index_type>(k);
  index_type widest = 0;
  for (index_type r = 0; r < a.rows(); ++r)
    for (const auto c : a.row_columns(r))
      widest = std::max(widest, std::abs(place[at(r)] - place[at(c)]));
  return widest;
}

// Entries below the diagonal that elimination leaves, by eliminating.
std::size_t fill_by_elimination(const csr_matrix<double>& a, const std::vector<index_type>& order) {
  const auto n = order.size();
  std::vector<index_type> place(n);
  for (std::size_t k = 0; k < n; ++k)
    place[at(order[k])] = static_cast<index_type>(k);
  std::vector<std::vector<bool>> m(n, std::vector<bool>(n, false));
  for (index_type r = 0; r < a.rows(); ++r)
    for (const auto c : a.row_columns(r))
      m[at(place[at(r)])][at(place[at(c)])] = m[at(place[at(c)])][at(place[at(r)])] = true;
  std::size_t entries = 0;
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = k + 1; i < n; ++i) {
      if (!m[i][k])
        continue;
      ++entries;
      for (std::size_t j = k + 1; j < n; ++j)
        m[i][j] = m[i][j] || m[k][j];
    }
  return entries;
}

} // namespace

TEST_CASE("reverse Cuthill-McKee finds the narrow band of a shuffled grid") {
  const auto grid = families::convection<double>(20, 0.5);
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const auto a = shuffled(grid, seed);
    const auto order = reverse_cuthill_mckee(a);
    auto all = order;
    std::sort(all.begin(), all.end());
    CHECK(all == as_it_is(a.rows()));
    CHECK(bandwidth(a, as_it_is(a.rows())) > 300);
    CHECK(bandwidth(a, order) <= 30); // 20 is the least
  }
}

TEST_CASE("the order begins at an end: shuffled chains become chains again") {
  triplets<double> t{100, 100};
  for (index_type i = 0; i + 1 < 100; ++i)
    if (i != 59) // two of them
      t.add(i, i + 1, 1);
  const auto chains = std::move(t).build();
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const auto a = shuffled(chains, seed);
    CHECK(bandwidth(a, reverse_cuthill_mckee(a)) == 1);
  }
}

TEST_CASE("every component gets its place, lonely unknowns and one-sided entries, too") {
  triplets<double> t{7, 7};
  t.add(0, 6, 1); // 0 needs 6, but 6 does not need 0
  t.add(3, 1, 1);
  t.add(5, 3, 1);
  auto order = reverse_cuthill_mckee(std::move(t).build());
  std::sort(order.begin(), order.end());
  CHECK(order == as_it_is(7));
  CHECK(reverse_cuthill_mckee(csr_matrix<double>{}).empty());
}

TEST_CASE("the symbolic fill is what elimination leaves") {
  constexpr auto no_limit = std::numeric_limits<std::size_t>::max();
  for (unsigned seed = 1; seed <= 6; ++seed) {
    const auto a = families::skew(30, seed);
    for (const auto& order : {as_it_is(30), reverse_cuthill_mckee(a)})
      CHECK(symbolic_fill(a, order, no_limit) == fill_by_elimination(a, order));
  }
}

TEST_CASE("counting ends soon after its limit") {
  const auto a = families::poisson_2d<double>(30);
  const auto order = as_it_is(a.rows());
  CHECK(symbolic_fill(a, order, 1'000'000) > 20'000);
  const auto stopped = symbolic_fill(a, order, 1000);
  CHECK(stopped > 1000);
  CHECK(stopped <= 1000 + 900); // a row more at most
}

} // namespace basal::solver::detail
