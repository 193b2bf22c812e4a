// One product y = A x, and eight at once, against Eigen's row-major product (-O3 -march=native)
// and SuiteSparse's cholmod_sdmult. Left out: MKL, which Debian's main archive does not have.

#include "bench/solver/cholmod_peer.hpp"
#include "bench/solver/eigen_peer.hpp"
#include "bench/support/bench.hpp"
#include "tests/solver/families.hpp"

#include <basal/solver/detail/aligned_array.hpp>
#include <basal/solver/detail/kernels/product.hpp>
#include <basal/solver/detail/kernels/vector.hpp>
#include <basal/solver/detail/packed_rows.hpp>

#include <cmath>
#include <functional>
#include <map>

using namespace basal;

namespace {

using matrix = solver::csr_matrix<double>;
using std::size_t;

struct problem {
  std::string name;
  std::function<matrix()> make;
};

// Matrices are made once: a big one takes longer than its products.
const matrix& made(const problem& p) {
  static std::map<std::string, matrix> all;
  const auto found = all.find(p.name);
  return found != all.end() ? found->second : all.emplace(p.name, p.make()).first->second;
}

bool close(const std::vector<double>& x, const std::vector<double>& y) {
  for (size_t i = 0; i < x.size(); ++i) {
    if (!(std::abs(x[i] - y[i]) <= 1e-10))
      return false;
  }
  return true;
}

// Times work(x, y), whose y must be what Eigen computes.
template <class Work>
void product_case(benchmark::State& state, const problem& p, Work work) {
  const auto& a = made(p);
  const auto x = families::numbers<double>(families::at(a.columns()), 1);
  std::vector<double> y(families::at(a.rows())), expected(y.size());
  bench::eigen_peer{a}.multiply(x, expected);
  for (auto _ : state) {
    work(a, x, y);
    benchmark::ClobberMemory();
  }
  if (!close(y, expected))
    state.SkipWithError("wrong product");
}

void ours(benchmark::State& state, const problem& p) {
  made(p).packed();
  product_case(state, p, [](const matrix& a, const auto& x, auto& y) {
    solver::kernels::multiply<double>(a, x, y, solver::summation::native);
  });
}

void eigen(benchmark::State& state, const problem& p) {
  const bench::eigen_peer peer{made(p)};
  product_case(state, p, [&peer](const matrix&, const auto& x, auto& y) { peer.multiply(x, y); });
}

void cholmod(benchmark::State& state, const problem& p) {
  bench::cholmod_peer peer{made(p), bench::cholmod_peer::kind::general};
  product_case(state, p, [&peer](const matrix&, const auto& x, auto& y) { peer.multiply(x, y); });
}

constexpr size_t width = 8;

void block(benchmark::State& state, const problem& p) {
  const auto& a = made(p);
  const auto n = families::at(a.rows());
  const auto x = families::numbers<double>(n * width, 1);
  std::vector<double> y(n * width);
  for (auto _ : state) {
    solver::kernels::multiply_block<double>(a, width, x, y, solver::summation::native);
    benchmark::ClobberMemory();
  }
  std::vector<double> column(n), product(n), own(n);
  for (size_t i = 0; i < n; ++i) {
    column[i] = x[i * width + 3];
    own[i] = y[i * width + 3];
  }
  bench::eigen_peer{a}.multiply(column, product);
  if (!close(own, product))
    state.SkipWithError("wrong product");
}

void cholmod_block(benchmark::State& state, const problem& p) {
  const auto& a = made(p);
  bench::cholmod_peer peer{a, bench::cholmod_peer::kind::general};
  const auto n = families::at(a.rows());
  const auto x = families::numbers<double>(n * width, 1);
  std::vector<double> y(n * width);
  for (auto _ : state) {
    peer.multiply(x, y);
    benchmark::ClobberMemory();
  }
  const auto third = [n](const auto& all) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(3 * n);
    return std::vector<double>(first, first + static_cast<std::ptrdiff_t>(n));
  };
  std::vector<double> product(n);
  bench::eigen_peer{a}.multiply(third(x), product);
  if (!close(third(y), product))
    state.SkipWithError("wrong product");
}

void eight_times(benchmark::State& state, const problem& p) {
  product_case(state, p, [](const matrix& a, const auto& x, auto& y) {
    for (size_t k = 0; k < width; ++k) {
      solver::kernels::multiply<double>(a, x, y, solver::summation::native);
      benchmark::ClobberMemory();
    }
  });
}

// Bytes that a product must move at least: the packed matrix once, x once, y twice (a line is read
// before it is written).
double product_bytes(const matrix& a) {
  return static_cast<double>(a.packed().bytes()) + 24.0 * a.rows();
}

constexpr size_t read_numbers = size_t{8} << 20;

// Bandwidth of one core: a dot product of two vectors of 128 MB together.
void read(benchmark::State& state) {
  solver::detail::aligned_array<double> x{read_numbers}, y{read_numbers};
  std::fill_n(x.data(), read_numbers, 1.0);
  std::fill_n(y.data(), read_numbers, 2.0);
  const std::span<const double> xs{x.data(), read_numbers}, ys{y.data(), read_numbers};
  bench::check(state, 2.0 * read_numbers,
               [&] { return solver::kernels::dot<double>(xs, ys, solver::summation::native); });
}

const bench::suite spmv_suite{[](bench::plan& plan) {
  const solver::index_type side = plan.quick() ? 1000 : 2000;
  const problem small{"p3d_17k", [] { return families::poisson_3d<double>(26); }};
  const problem scattered{"random_20k",
                          [] { return families::dominant<double>(20'000, 1, 0.9, false); }};
  const problem big{"p2d_" + std::to_string(side / 1000 * side / 1000) + "M",
                    [side] { return families::poisson_2d<double>(side); }};
  const problem web{"web_500k", [] { return families::web_links<double>(500'000, 1); }};
  for (const auto& p : {small, scattered, big, web}) {
    const auto peer = bench::case_name("spmv", p.name, "eigen", 1);
    plan.add(peer, [p](benchmark::State& s) { eigen(s, p); }, {.baseline = peer});
    plan.add(bench::case_name("spmv", p.name, "cholmod", 1),
             [p](benchmark::State& s) { cholmod(s, p); }, {.baseline = peer});
    plan.add(bench::case_name("spmv", p.name, "basal", 1), [p](benchmark::State& s) { ours(s, p); },
             {.baseline = peer});
  }
  const auto against = [](const problem& p) {
    return bench::ratio(bench::case_name("spmv", p.name, "eigen", 1),
                        bench::case_name("spmv", p.name, "basal", 1));
  };
  plan.figure("spmv_in_cache_vs_eigen", against(small));
  plan.figure("spmv_in_cache_scattered_vs_eigen", against(scattered));
  plan.figure("spmv_vs_eigen", against(big));
  plan.figure("spmv_web_vs_eigen", against(web));
  const auto reading = bench::case_name("read", "128MB", "dot", 1);
  plan.add(reading, read);
  plan.figure("spmv_bandwidth_share", [big, reading](const bench::results& r) {
    const auto ns = r.median_ns(bench::case_name("spmv", big.name, "basal", 1));
    return product_bytes(made(big)) / ns * r.median_ns(reading) / (16.0 * read_numbers);
  });

  for (const auto& p : {scattered, big}) {
    const auto eight = bench::case_name("spmm8", p.name, "eight_products", 1);
    const auto once = bench::case_name("spmm8", p.name, "block", 1);
    plan.add(eight, [p](benchmark::State& s) { eight_times(s, p); }, {.baseline = eight});
    plan.add(bench::case_name("spmm8", p.name, "cholmod", 1),
             [p](benchmark::State& s) { cholmod_block(s, p); }, {.baseline = eight});
    plan.add(once, [p](benchmark::State& s) { block(s, p); }, {.baseline = eight});
    plan.figure(p.name == big.name ? "spmm8_stencil_vs_8_spmv" : "spmm8_vs_8_spmv",
                bench::ratio(eight, once));
  }
}};

} // namespace
