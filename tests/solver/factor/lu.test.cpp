#include <cmath>
#include <limits>

#include <basal/solver/build_config.hpp>
#include <basal/solver/errors.hpp>

#include "../families.hpp"
#include "../hard_families.hpp"
#include "factor/complete_lu.hpp"
#include "factor/threshold_lu.hpp"
#include "support/catch.hpp"

namespace basal::solver::detail {

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();
constexpr auto order = summation::portable;

// |x - F^-1 A x| / |x| for a random x.
template <class T>
double distance_from_inverse(const csr_matrix<double>& a, const ordered_factor<T>& f) {
  const auto n = static_cast<std::size_t>(a.rows());
  const auto x = families::numbers<double>(n, 9);
  std::vector<T> b(n);
  for (index_type r = 0; r < a.rows(); ++r) {
    double sum = 0;
    for (std::size_t k = 0; k < a.row_columns(r).size(); ++k)
      sum += a.row_values(r)[k] * x[static_cast<std::size_t>(a.row_columns(r)[k])];
    b[static_cast<std::size_t>(r)] = static_cast<T>(sum);
  }
  std::vector<T> z(n, std::numeric_limits<T>::quiet_NaN()); // apply() writes before it reads
  std::vector<T> work(n, std::numeric_limits<T>::quiet_NaN());
  f.apply(b, z, work, order);
  double off = 0;
  double all = 0;
  for (std::size_t i = 0; i < n; ++i) {
    off += (static_cast<double>(z[i]) - x[i]) * (static_cast<double>(z[i]) - x[i]);
    all += x[i] * x[i];
  }
  return std::sqrt(off / all);
}

std::vector<csr_matrix<double>> samples() {
  std::vector<csr_matrix<double>> all;
  all.push_back(families::skew(60, 2));
  all.push_back(families::permuted_without_diagonal(80, 2));
  all.push_back(families::nearly_singular(70, 5)); // 10^-3 from singular
  all.push_back(families::convection<double>(12, 1.0));
  return all;
}

} // namespace

TEST_CASE("a threshold factor that drops nothing is the inverse") {
  for (const auto& a : samples()) {
    const auto f = threshold_lu<double>(match(a), {.drop = 0, .fill = unlimited});
    CHECK(distance_from_inverse(a, f) < 1e-8);
    CHECK(f.replaced_pivots == 0);
  }
}

TEST_CASE("the more a threshold factor drops, the smaller and the worse it is") {
  const auto a = families::convection<double>(30, 1.0);
  const auto m = match(a);
  const auto rough = threshold_lu<double>(m, {.drop = 1e-1});
  const auto fine = threshold_lu<double>(m, {.drop = 1e-4});
  CHECK(rough.entries() < fine.entries());
  CHECK(distance_from_inverse(a, fine) < distance_from_inverse(a, rough) / 100);
  const auto narrow = threshold_lu<double>(m, {.drop = 1e-12, .fill = 3});
  CHECK(narrow.entries() <= 900 * (1 + 2 * 15)); // 3 times 5 entries in each half of a row
  CHECK(narrow.entries() > rough.entries());
}

TEST_CASE("a column comes forward for a pivot that would be small") {
  // After the first row the second has 1e-9 left on its diagonal, and 0.5 beside it.
  triplets<double> t{3, 3};
  t.add(0, 0, 1);
  t.add(0, 1, 0.999999999);
  t.add(1, 0, 1);
  t.add(1, 1, 1);
  t.add(1, 2, 0.5);
  t.add(2, 1, 0.7);
  t.add(2, 2, 1);
  const auto a = std::move(t).build();
  const auto f = threshold_lu<double>(match(a), {.drop = 0, .fill = unlimited});
  CHECK(distance_from_inverse(a, f) < 1e-14);
  for (const double x : f.upper.inverse_diagonal)
    CHECK(std::abs(x) < 100);
}

TEST_CASE("a pivot of 0 is replaced and counted") {
  triplets<double> t{2, 2};
  for (const index_type i : {0, 1})
    for (const index_type j : {0, 1})
      t.add(i, j, 1);
  const auto f = threshold_lu<double>(match(std::move(t).build()), {});
  CHECK(f.replaced_pivots == 1);
  for (const double x : f.upper.inverse_diagonal)
    CHECK(std::isfinite(x));
}

TEST_CASE("a threshold factor ends at its limit of memory, with a sentence") {
  const auto m = match(families::convection<double>(20, 1.0));
  try {
    threshold_lu<double>(m, {.drop = 0, .fill = unlimited, .bytes = 20'000});
    FAIL("no error");
  } catch (const error& e) {
    CHECK(e.code() == errc::too_large);
    CHECK_THAT(e.what(), ContainsSubstring("20000 bytes of solve_options::factor_bytes"));
  }
}

TEST_CASE("a complete factor is the inverse, in float, too") {
  if (!with_direct_method)
    return;
  for (const auto& a : samples()) {
    CHECK(distance_from_inverse(a, complete_lu<double>(match(a), std::size_t{1} << 30)) < 1e-10);
    CHECK(distance_from_inverse(a, complete_lu<float>(match(a), std::size_t{1} << 30)) < 2e-2);
  }
}

TEST_CASE("a complete factor of a singular matrix is refused, and of an empty one is empty") {
  if (!with_direct_method)
    return;
  triplets<double> t{2, 2};
  for (const index_type i : {0, 1})
    for (const index_type j : {0, 1})
      t.add(i, j, 1);
  try {
    complete_lu<double>(match(std::move(t).build()), std::size_t{1} << 30);
    FAIL("no error");
  } catch (const error& e) {
    CHECK(e.code() == errc::zero_diagonal);
  }
  CHECK(complete_lu<double>(match(csr_matrix<double>{}), 0).entries() == 0);
  CHECK(threshold_lu<double>(match(csr_matrix<double>{}), {}).entries() == 0);
}

TEST_CASE("a complete factor that would be too large is not begun") {
  const auto m = match(families::convection<double>(40, 1.0));
  try {
    complete_lu<double>(m, std::size_t{1} << 20);
    FAIL("no error");
  } catch (const error& e) {
    if (!with_direct_method) {
      CHECK_THAT(e.what(), ContainsSubstring("built without a direct method"));
      return;
    }
    CHECK(e.code() == errc::too_large);
    CHECK_THAT(e.what(),
               ContainsSubstring("at least 1.08 MiB, above solve_options::factor_bytes of 1 MiB"));
  }
}

} // namespace basal::solver::detail
