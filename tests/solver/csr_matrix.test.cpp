#include <basal/solver/csr_matrix.hpp>
#include <basal/solver/detail/packed_rows.hpp>
#include <basal/solver/eigen.hpp>
#include <basal/solver/errors.hpp>
#include <basal/solver/triplets.hpp>

#include "families.hpp"
#include "support/catch.hpp"

#include <cmath>
#include <limits>
#include <strings.h>
#include <thread>

// At global scope, among the names of <strings.h>: programs do that, and none may clash.
using namespace basal::solver;

namespace {

template <class F>
errc code_of(F f) {
  try {
    f();
  } catch (const error& e) {
    return e.code();
  }
  return errc{};
}

csr_matrix<double> made_of(index_type rows, index_type columns, std::vector<index_type> starts,
                           std::vector<index_type> column_indices, std::vector<double> values) {
  return {rows, columns, std::move(starts), std::move(column_indices), std::move(values)};
}

} // namespace

TEST_CASE("triplets in any order become sorted rows, and repeated ones are added up") {
  triplets<double> t{3, 4};
  t.add(2, 1, 5);
  t.add(0, 3, 1);
  t.add(2, 0, 2);
  t.add(0, 3, 10);
  const auto a = std::move(t).build();
  CHECK(a.rows() == 3);
  CHECK(a.columns() == 4);
  CHECK(std::ranges::equal(a.row_starts(), std::vector<index_type>{0, 1, 1, 3}));
  CHECK(std::ranges::equal(a.column_indices(), std::vector<index_type>{3, 0, 1}));
  CHECK(std::ranges::equal(a.values(), std::vector<double>{11, 2, 5}));
}

TEST_CASE("a malformed matrix is refused with its place") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(code_of([] { made_of(-1, 1, {0}, {}, {}); }) == errc::dimension_mismatch);
  CHECK(code_of([] { made_of(2, 2, {0, 1}, {0}, {1}); }) == errc::dimension_mismatch);
  CHECK(code_of([] { made_of(1, 2, {0, 2}, {0}, {1}); }) == errc::dimension_mismatch);
  CHECK(code_of([] { made_of(2, 2, {0, 2, 1}, {0}, {1}); }) == errc::malformed_matrix);
  CHECK(code_of([] { made_of(1, 2, {0, 1}, {2}, {1}); }) == errc::malformed_matrix);
  CHECK(code_of([] { made_of(1, 2, {0, 1}, {-1}, {1}); }) == errc::malformed_matrix);
  CHECK(code_of([] { made_of(1, 2, {0, 2}, {1, 0}, {1, 1}); }) == errc::malformed_matrix);
  CHECK(code_of([] { made_of(1, 2, {0, 2}, {1, 1}, {1, 1}); }) == errc::malformed_matrix);
  CHECK(code_of([] { made_of(1, 2, {0, 1}, {1}, {nan}); }) == errc::not_finite);
  CHECK_THROWS_WITH(made_of(2, 2, {0, 1, 2}, {0, 1}, {1, INFINITY}),
                    ContainsSubstring("row 1, column 1"));
  triplets<float> t{2, 2};
  CHECK(code_of([&] { t.add(2, 0, 1); }) == errc::malformed_matrix);
  CHECK(code_of([&] { t.add(0, -1, 1); }) == errc::malformed_matrix);
  CHECK(code_of([&] { t.add(0, 0, NAN); }) == errc::not_finite);
  t.add(0, 0, 3e38f);
  t.add(0, 0, 3e38f);
  CHECK(code_of([&] { std::move(t).build(); }) == errc::not_finite);
}

TEST_CASE("transposing twice gives the matrix back") {
  const auto a = families::ragged<double>(100, 60, 1);
  const auto t = a.transposed();
  CHECK(t.rows() == 60);
  CHECK(as_eigen(t).toDense() == as_eigen(a).toDense().transpose());
  const auto b = t.transposed();
  CHECK(std::ranges::equal(a.row_starts(), b.row_starts()));
  CHECK(std::ranges::equal(a.column_indices(), b.column_indices()));
  CHECK(std::ranges::equal(a.values(), b.values()));
}

TEST_CASE("matrices come from Eigen and go back") {
  const auto a = families::ragged<float>(40, 50, 2);
  const Eigen::SparseMatrix<float> columns = as_eigen(a); // stored by columns
  const auto b = from_eigen(columns);
  CHECK(as_eigen(b).toDense() == as_eigen(a).toDense());
}

TEST_CASE("the diagonal has zeros where nothing is stored") {
  const auto a = made_of(3, 3, {0, 1, 2, 3}, {0, 0, 2}, {7, 8, 9});
  CHECK(a.diagonal() == std::vector<double>{7, 0, 9});
}

TEST_CASE("a moved matrix is the same, and what it was moved from is empty") {
  auto a = families::poisson_2d<double>(5);
  const auto* packed = &a.packed();
  auto b = std::move(a);
  CHECK(&b.packed() == packed);
  CHECK(a.rows() == 0); // NOLINT: what is left is specified
  CHECK(a.nonzeros() == 0);
  CHECK(b.nonzeros() == 105);
}

TEST_CASE("rows of a stencil are packed without column indices") {
  const auto a = families::poisson_2d<double>(64);
  const auto& p = a.packed();
  REQUIRE(p.in_order());
  std::size_t runs = 0;
  for (const auto header : p.headers())
    runs += header & 1;
  // All but the chunks at the upper and lower edge, where a run would leave the vector.
  CHECK(runs >= p.headers().size() - 4);
}

TEST_CASE("rows of very different lengths are sorted, and long and empty ones are left out") {
  const auto a = families::ragged<double>(600, 300, 3);
  const auto& p = a.packed();
  CHECK_FALSE(p.in_order());
  std::vector<int> seen(600, 0);
  for (index_type i = 0; i < p.packed_count(); ++i)
    ++seen[families::at(p.rows()[families::at(i)])];
  for (const index_type r : p.unpacked_rows()) {
    ++seen[families::at(r)];
    const auto length = static_cast<index_type>(a.row_values(r).size());
    CHECK((length == 0 || length >= detail::packed_rows<double>::long_row));
  }
  CHECK(std::ranges::count(seen, 1) == 600);
}

TEST_CASE("threads that need the packed form at the same time get the same one") {
  for (int round = 0; round < 20; ++round) {
    const auto a = families::poisson_2d<double>(20);
    const detail::packed_rows<double>* seen[4] = {};
    {
      std::vector<std::jthread> threads;
      for (auto& mine : seen)
        threads.emplace_back([&a, &mine] { mine = &a.packed(); });
    }
    for (const auto* one : seen)
      CHECK(one == seen[0]);
  }
}
