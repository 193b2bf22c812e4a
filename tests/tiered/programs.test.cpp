// The programs of the sample compute what other people's programs compute.

#include "support/catch.hpp"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tiers.hpp"

using namespace tiered;
using namespace tiered::test;

namespace {

std::string read(const std::string& name) {
  const char* folder = std::getenv("TIERED_PROGRAMS");
  REQUIRE(folder != nullptr);
  std::ifstream file(std::string(folder) + "/" + name + ".tier");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  REQUIRE_FALSE(text.empty());
  return text;
}

/// The same outcome in all tiers; it is returned.
outcome same_in_all_tiers(const std::string& name, const std::string& function,
                          const std::vector<value>& arguments) {
  all_tiers f(read(name), function);
  const outcome first = f.run(0, arguments);
  INFO(name << ": " << to_string(first));
  REQUIRE_FALSE(first.error);
  for (std::size_t tier = 1; tier < tiers; ++tier)
    CHECK(exactly(f.run(tier, arguments)) == exactly(first));
  return first;
}

value integer(std::int64_t i) {
  return of(i);
}

} // namespace

TEST_CASE("fib(25)") {
  CHECK(same_in_all_tiers("fib", "fib", {integer(25)}).value.v.i == 75025);
}

TEST_CASE("the energy of the planets is that of the Computer Language Benchmarks Game") {
  CHECK(same_in_all_tiers("nbody", "energy", {integer(0)}).value.v.d
        == Approx(-0.169075164).margin(5e-10));
  CHECK(same_in_all_tiers("nbody", "energy", {integer(1000)}).value.v.d
        == Approx(-0.169087605).margin(5e-10));
}

TEST_CASE("the mandelbrot set has as many points as a loop counts") {
  const int size = 40;
  int expected = 0;
  for (int row = 0; row < size; ++row)
    for (int column = 0; column < size; ++column) {
      const double cx = 3.0 * column / size - 2.0;
      const double cy = 3.0 * row / size - 1.5;
      double x = 0.0;
      double y = 0.0;
      int left = 100;
      for (; left > 0 && x * x + y * y <= 4.0; --left) {
        const double next = x * x - y * y + cx;
        y = 2.0 * x * y + cy;
        x = next;
      }
      expected += left == 0;
    }
  CHECK(same_in_all_tiers("mandelbrot", "in_rows", {integer(0), integer(size)}).value.v.i
        == expected);
}

TEST_CASE("the spectral norm is that of a loop over the same matrix") {
  constexpr int n = 8;
  const auto a = [](int i, int j) { return 1.0 / ((i + j) * (i + j + 1) / 2 + i + 1); };
  std::vector<double> u(n, 1.0);
  double ratio = 0;
  for (int step = 0; step < 10; ++step) {
    std::vector<double> v(n), w(n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        v[i] += a(i, j) * u[j];
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        w[i] += a(j, i) * v[j];
    double uw = 0, uu = 0;
    for (int i = 0; i < n; ++i) {
      uw += u[i] * w[i];
      uu += u[i] * u[i];
    }
    ratio = std::sqrt(uw / uu);
    u = w;
  }
  CHECK(same_in_all_tiers("spectral_norm", "main", {}).value.v.d == Approx(ratio).epsilon(1e-12));
}

TEST_CASE("the queens have the known numbers of solutions") {
  const std::int64_t known[] = {1, 1, 0, 0, 2, 10, 4, 40, 92};
  for (std::int64_t n : {1, 4, 6, 8})
    CHECK(same_in_all_tiers("nqueens", "queens", {integer(n)}).value.v.i == known[n]);
}
