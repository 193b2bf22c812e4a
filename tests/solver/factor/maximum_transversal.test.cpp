#include <algorithm>
#include <cmath>
#include <numeric>

#include "../families.hpp"
#include "../hard_families.hpp"
#include "factor/matched_matrix.hpp"
#include "factor/maximum_transversal.hpp"
#include "support/catch.hpp"

#include <basal/solver/errors.hpp>

namespace basal::solver::detail {

namespace {

std::size_t at(index_type i) {
  return static_cast<std::size_t>(i);
}

// The sum of logarithms of what a transversal chose; minus infinity if a place is empty.
double log_product(const csr_matrix<double>& a, const std::vector<index_type>& column_of_row) {
  double sum = 0;
  for (index_type r = 0; r < a.rows(); ++r) {
    double chosen = 0;
    for (std::size_t k = 0; k < a.row_columns(r).size(); ++k)
      if (a.row_columns(r)[k] == column_of_row[at(r)])
        chosen = std::abs(a.row_values(r)[k]);
    sum += std::log(chosen);
  }
  return sum;
}

void check_scales(const csr_matrix<double>& a, const maximum_transversal& t) {
  REQUIRE(t.matched == a.rows());
  for (index_type r = 0; r < a.rows(); ++r) {
    bool chosen = false;
    for (std::size_t k = 0; k < a.row_columns(r).size(); ++k) {
      const auto c = a.row_columns(r)[k];
      const double scaled
        = t.row_scale[at(r)] * std::abs(a.row_values(r)[k]) * t.column_scale[at(c)];
      REQUIRE(scaled <= 1 + 1e-10);
      if (c == t.column_of_row[at(r)]) {
        chosen = true;
        REQUIRE(scaled == Approx(1));
      }
    }
    REQUIRE(chosen);
  }
}

} // namespace

TEST_CASE("no other transversal of a small matrix has a larger product") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const index_type n = 6;
    const auto a = families::dominant<double>(n, seed, 3.0, false, 3);
    const auto found = find_maximum_transversal(a);
    std::vector<index_type> all(at(n));
    std::iota(all.begin(), all.end(), 0);
    double best = -INFINITY;
    do
      best = std::max(best, log_product(a, all));
    while (std::next_permutation(all.begin(), all.end()));
    REQUIRE(log_product(a, found.column_of_row) == Approx(best));
  }
}

TEST_CASE("scaled, chosen entries are 1 and no entry is larger") {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    for (const auto& a : {families::permuted_without_diagonal(80, seed), families::skew(60, seed),
                          families::nearly_singular(50, seed)})
      check_scales(a, find_maximum_transversal(a));
  }
}

TEST_CASE("a matched matrix has ones on its diagonal, and remembers where rows came from") {
  const auto a = families::permuted_without_diagonal(50, 3);
  const auto m = match(a);
  auto rows = m.row_order;
  std::sort(rows.begin(), rows.end());
  for (index_type k = 0; k < a.rows(); ++k)
    CHECK(rows[at(k)] == k);
  const auto diagonal = m.matrix.diagonal();
  for (const double d : diagonal)
    CHECK(std::abs(d) == Approx(1));
  // An entry is the one of A, scaled.
  for (index_type k = 0; k < a.rows(); ++k) {
    const auto r = m.row_order[at(k)];
    REQUIRE(std::ranges::equal(m.matrix.row_columns(k), a.row_columns(r)));
    for (std::size_t e = 0; e < a.row_columns(r).size(); ++e)
      CHECK(m.matrix.row_values(k)[e]
            == Approx(a.row_values(r)[e] * m.row_scale[at(k)]
                      * m.column_scale[at(a.row_columns(r)[e])]));
  }
}

TEST_CASE("a structurally singular matrix says how many rows have a column") {
  triplets<double> t{4, 4};
  t.add(0, 0, 1); // three rows for two columns
  t.add(1, 0, 2);
  t.add(1, 1, 3);
  t.add(2, 1, 4);
  t.add(3, 2, 5);
  t.add(3, 3, 6);
  t.add(0, 3, 0); // a stored zero is no entry
  const auto a = std::move(t).build();
  CHECK(find_maximum_transversal(a).matched == 3);
  try {
    match(a);
    FAIL("no error");
  } catch (const error& e) {
    CHECK(e.code() == errc::zero_diagonal);
    CHECK_THAT(e.what(), ContainsSubstring("of its 4 rows only 3"));
  }
}

} // namespace basal::solver::detail
