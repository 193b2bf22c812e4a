#include <basal/solver/detail/kernels/block.hpp>
#include <basal/solver/detail/kernels/product.hpp>
#include <basal/solver/detail/kernels/reference.hpp>
#include <basal/solver/detail/kernels/vector.hpp>
#include <basal/solver/detail/packed_rows.hpp>
#include <basal/solver/eigen.hpp>

#include "families.hpp"
#include "support/catch.hpp"

#include <hwy/targets.h>

#include <bit>
#include <cstring>

namespace basal::solver {
namespace reference = kernels::reference;

namespace {

using families::numbers;

// Runs `check` once for each instruction set that this CPU and the library have in common.
template <class Check>
void on_every_instruction_set(Check check) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    INFO(hwy::TargetName(target));
    check();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

template <class T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
  return x.size() == y.size()
         && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0);
}

bool same_bits(double x, double y) {
  return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
}

// Matrices that use every path of the product.
template <class T>
std::vector<csr_matrix<T>> shapes() {
  std::vector<csr_matrix<T>> all;
  all.push_back(families::poisson_2d<T>(1));
  all.push_back(families::poisson_2d<T>(3));
  all.push_back(families::poisson_2d<T>(37));
  all.push_back(families::poisson_3d<T>(9));
  all.push_back(families::dominant<T>(501, 1, 0.5, false));
  all.push_back(families::dominant<T>(64, 2, 0.5, false, 3));
  all.push_back(families::dominant<T>(300, 3, 0.5, false, 120));
  all.push_back(families::ragged<T>(700, 700, 4));
  all.push_back(families::web_links<T>(1000, 5));
  all.push_back(csr_matrix<T>{});
  return all;
}

} // namespace

TEMPLATE_TEST_CASE("portable sums have the same bits on every instruction set", "", float, double) {
  using T = TestType;
  for (const std::size_t size : {0u, 1u, 7u, 31u, 32u, 33u, 64u, 127u, 128u, 1000u, 4099u}) {
    const auto x = numbers<T>(size, 1);
    const auto y = numbers<T>(size, 2);
    const double expected = reference::dot<T>(x, y);
    on_every_instruction_set([&] {
      CHECK(same_bits(kernels::dot<T>(x, y, summation::portable), expected));
      CHECK(kernels::dot<T>(x, y, summation::native)
            == Approx(expected).margin(1e-5 * std::sqrt(static_cast<double>(size) + 1)));
    });
  }
}

TEMPLATE_TEST_CASE("portable products have the same bits on every instruction set", "", float,
                   double) {
  using T = TestType;
  for (const auto& a : shapes<T>()) {
    INFO(a.rows() << " rows, " << a.nonzeros() << " entries");
    const auto n = families::at(a.rows());
    const auto x = numbers<T>(families::at(a.columns()), 1);
    const auto b = numbers<T>(n, 2);
    const auto d = numbers<T>(n, 3);
    std::vector<T> y(n);
    reference::multiply<T>(a, x, y);
    std::vector<T> r(n);
    const double squares = reference::residual<T>(a, x, b, r);
    std::vector<T> ours(n, T{99});
    on_every_instruction_set([&] {
      kernels::multiply<T>(a, x, ours, summation::portable);
      CHECK(same_bits(ours, y));
      CHECK(same_bits(kernels::residual<T>(a, x, b, ours, summation::portable), squares));
      CHECK(same_bits(ours, r));
      CHECK(same_bits(kernels::multiply_dot<T>(a, x, ours, summation::portable),
                      reference::multiply_dot<T>(a, x, y)));
      CHECK(same_bits(ours, y));
      std::vector<T> x1 = b, r1 = d, next1(n), x2 = b, r2 = d, next2(n);
      CHECK(same_bits(kernels::neumann_term<T>(a, x, d, x1, r1, next1, summation::portable),
                      reference::neumann_term<T>(a, x, d, x2, r2, next2)));
      CHECK(same_bits(x1, x2));
      CHECK(same_bits(r1, r2));
      CHECK(same_bits(next1, next2));
    });
  }
}

TEMPLATE_TEST_CASE("native products agree with Eigen's", "", float, double) {
  using T = TestType;
  using vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  for (const auto& a : shapes<T>()) {
    if (a.rows() == 0)
      continue;
    const auto x = numbers<T>(families::at(a.columns()), 1);
    std::vector<T> y(families::at(a.rows()));
    const vector expected = as_eigen(a) * Eigen::Map<const vector>{x.data(), a.columns()};
    const vector scale = as_eigen(a).cwiseAbs() * vector::Ones(a.columns());
    on_every_instruction_set([&] {
      kernels::multiply<T>(a, x, y, summation::native);
      for (index_type i = 0; i < a.rows(); ++i)
        CHECK(std::abs(y[families::at(i)] - expected[i])
              <= 8 * std::numeric_limits<T>::epsilon() * scale[i]);
    });
  }
}

TEMPLATE_TEST_CASE("products with blocks of every width", "", float, double) {
  using T = TestType;
  const auto a = families::ragged<T>(150, 80, 1);
  for (std::size_t width = 1; width <= 37; ++width) {
    const auto x = numbers<T>(80 * width, 1);
    std::vector<T> expected(150 * width);
    reference::multiply_block<T>(a, width, x, expected);
    on_every_instruction_set([&] {
      std::vector<T> y(150 * width, T{99});
      kernels::multiply_block<T>(a, width, x, y, summation::portable);
      CHECK(same_bits(y, expected));
    });
  }
}

TEMPLATE_TEST_CASE("fused vector kernels do what their parts do", "", float, double) {
  using T = TestType;
  constexpr auto order = summation::portable;
  for (const std::size_t n : {1u, 31u, 64u, 257u}) {
    const auto q = numbers<T>(n, 1), d = numbers<T>(n, 2), s = numbers<T>(n, 3),
               t = numbers<T>(n, 4), shadow = numbers<T>(n, 5), r0 = numbers<T>(n, 6),
               x0 = numbers<T>(n, 7);
    const T alpha = T(0.3), beta = T(-0.7);
    on_every_instruction_set([&] {
      auto r = r0;
      auto expected = r0;
      auto sums = kernels::cg_residual<T>(alpha, q, d, r, order);
      for (std::size_t i = 0; i < n; ++i)
        expected[i] = r0[i] - alpha * q[i];
      CHECK(same_bits(r, expected));
      CHECK(same_bits(sums.first, reference::dot<T>(r, r)));
      std::vector<T> scaled(n);
      kernels::scale<T>(d, r, scaled);
      CHECK(sums.second == Approx(reference::dot<T>(scaled, r)).margin(1e-4));

      auto p = q;
      auto x = x0;
      kernels::cg_direction<T>(alpha, beta, d, r, p, x, order);
      for (std::size_t i = 0; i < n; ++i) {
        CHECK(p[i] == beta * q[i] + d[i] * r[i]);
        CHECK(x[i] == alpha * q[i] + x0[i]);
      }
      p = q;
      kernels::bicgstab_direction<T>(beta, alpha, r, t, p, order);
      for (std::size_t i = 0; i < n; ++i)
        CHECK(p[i] == beta * (q[i] - alpha * t[i]) + r[i]);
      sums = kernels::bicgstab_omega<T>(t, s, order);
      CHECK(same_bits(sums.first, reference::dot<T>(t, t)));
      CHECK(same_bits(sums.second, reference::dot<T>(t, s)));
      r = r0;
      x = x0;
      sums = kernels::bicgstab_update<T>(alpha, beta, q, s, t, shadow, r, x, order);
      for (std::size_t i = 0; i < n; ++i) {
        CHECK(r[i] == r0[i] - beta * t[i]);
        CHECK(x[i] == beta * s[i] + (alpha * q[i] + x0[i]));
      }
      CHECK(same_bits(sums.first, reference::dot<T>(r, r)));
      CHECK(same_bits(sums.second, reference::dot<T>(r, shadow)));
      auto y = x0;
      kernels::axpy<T>(alpha, q, y, order);
      for (std::size_t i = 0; i < n; ++i)
        CHECK(y[i] == alpha * q[i] + x0[i]);
    });
  }
}

TEST_CASE("results do not depend on where the vectors lie in memory") {
  const auto a = families::poisson_2d<double>(31);
  const auto n = families::at(a.rows());
  const auto x = numbers<double>(n + 8, 1);
  std::vector<double> first(n);
  kernels::multiply<double>(a, std::span{x}.first(n), first, summation::native);
  for (std::size_t shift = 1; shift < 8; ++shift) {
    std::vector<double> moved(n + 8);
    std::copy_n(x.begin(), n, moved.begin() + static_cast<std::ptrdiff_t>(shift));
    std::vector<double> y(n);
    const auto view = std::span<const double>{moved}.subspan(shift, n);
    kernels::multiply<double>(a, view, y, summation::native);
    CHECK(same_bits(y, first));
    CHECK(same_bits(
      kernels::dot<double>(view, view, summation::native),
      kernels::dot<double>(std::span{x}.first(n), std::span{x}.first(n), summation::native)));
  }
}

} // namespace basal::solver
