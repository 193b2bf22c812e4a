// Algorithms over ranges: the sum and the running sums of 10^7 floats, 4 x 10^6
// integers to sort, and the product of two matrices.
//
// Peers, by their own algorithms: oneTBB's parallel_reduce, parallel_scan,
// parallel_sort and parallel_for; libstdc++'s std::execution::par; OpenMP's
// loops, where the compiler may reorder the additions of a simd reduction, and
// libstdc++'s parallel mode for sorting. Only basal's sums are the same bit for
// bit on every number of executors.

#include "bench/posse/loop.hpp"

#include <basal/posse/algorithm.hpp>

#include <parallel/algorithm>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_scan.h>
#include <tbb/parallel_sort.h>

#include <algorithm>
#include <cmath>
#include <execution>
#include <memory>
#include <numeric>
#include <ranges>

namespace {

using namespace basal;

std::uint32_t scramble(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

// -- reduce -------------------------------------------------------------------

using floats = std::vector<float>;

std::shared_ptr<floats> made_on_setup() {
  return std::make_shared<floats>();
}

void fill(floats& v, std::size_t n) {
  if (v.empty())
    for (std::size_t i = 0; i < n; ++i)
      v.push_back(static_cast<float>(scramble(static_cast<std::uint32_t>(i)) >> 16) / 65536.f);
}

double exact_sum(std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i)
    sum += static_cast<double>(scramble(static_cast<std::uint32_t>(i)) >> 16) / 65536.;
  return sum;
}

const bench::suite reduce_suite{[](bench::plan& plan) {
  const std::size_t n = 10'000'000;
  auto v = made_on_setup();
  bench::program<bench::about> program{plan, "reduce", std::to_string(n), {exact_sum(n)}};
  program.setup([=] { fill(*v, n); });
  program.serial([=] { return bench::about{std::reduce(v->begin(), v->end(), 0.f)}; });
  program.basal(
    [=](posse::runtime& runtime) { return bench::about{posse::reduce(runtime, *v, 0.f)}; });
  program.tbb([=] {
    using range = tbb::blocked_range<const float*>;
    return bench::about{tbb::parallel_reduce(
      range{v->data(), v->data() + n}, 0.f,
      [](const range& r, float sum) { return std::reduce(r.begin(), r.end(), sum); },
      std::plus<>{})};
  });
  program.std_par([=] {
    return bench::about{std::reduce(std::execution::par_unseq, v->begin(), v->end(), 0.f)};
  });
  program.openmp([=] {
    float sum = 0;
    const float* from = v->data();
#pragma omp parallel for simd reduction(+ : sum)
    for (std::size_t i = 0; i < n; ++i)
      sum += from[i];
    return bench::about{sum};
  });
}};

// -- scan ---------------------------------------------------------------------

const bench::suite scan_suite{[](bench::plan& plan) {
  const std::size_t n = 10'000'000;
  auto v = made_on_setup();
  auto out = made_on_setup();
  // A single running sum of floats drifts; half a percent is as good as it gets.
  struct roughly {
    double value;
    bool operator==(const roughly& other) const {
      return std::abs(value - other.value) <= 5e-3 * other.value;
    }
  };
  bench::program<roughly> program{plan, "scan", std::to_string(n), {exact_sum(n)}};
  program.setup([=] {
    fill(*v, n);
    out->resize(n);
  });
  program.serial([=] {
    std::inclusive_scan(v->begin(), v->end(), out->begin());
    return roughly{out->back()};
  });
  program.basal([=](posse::runtime& runtime) {
    posse::inclusive_scan(runtime, *v, *out);
    return roughly{out->back()};
  });
  program.tbb([=] {
    tbb::parallel_scan(
      tbb::blocked_range<std::size_t>{0, n}, 0.f,
      [from = v->data(), to = out->data()](const tbb::blocked_range<std::size_t>& r, float sum,
                                           bool is_final) {
        if (is_final)
          for (auto i = r.begin(); i != r.end(); ++i)
            to[i] = sum += from[i];
        else
          sum = std::reduce(from + r.begin(), from + r.end(), sum);
        return sum;
      },
      std::plus<>{});
    return roughly{out->back()};
  });
  program.std_par([=] {
    std::inclusive_scan(std::execution::par_unseq, v->begin(), v->end(), out->begin());
    return roughly{out->back()};
  });
  // By hand in two passes, as programs do.
  program.openmp([=] {
    const float* from = v->data();
    float* to = out->data();
    std::vector<float> sums(static_cast<std::size_t>(omp_get_max_threads()) + 1, 0.f);
#pragma omp parallel
    {
      auto thread = static_cast<std::size_t>(omp_get_thread_num());
      auto threads = static_cast<std::size_t>(omp_get_num_threads());
      auto first = n * thread / threads;
      auto last = n * (thread + 1) / threads;
      float sum = 0;
#pragma omp simd reduction(+ : sum)
      for (auto i = first; i < last; ++i)
        sum += from[i];
      sums[thread + 1] = sum;
#pragma omp barrier
      std::inclusive_scan(from + first, from + last, to + first, std::plus<>{},
                          std::accumulate(sums.data(), sums.data() + thread + 1, 0.f));
    }
    return roughly{out->back()};
  });
}};

// -- sort ---------------------------------------------------------------------

const bench::suite sort_suite{[](bench::plan& plan) {
  const std::size_t n = plan.quick() ? 1'000'000 : 4'000'000;
  auto v = std::make_shared<std::vector<int>>();
  auto sorted = [=] { return v->size() == n && std::is_sorted(v->begin(), v->end()); };
  bench::program<bool> program{plan, "sort", std::to_string(n), true};
  program.setup([=] { v->resize(n); });
  program.prepare([=] {
    for (std::size_t i = 0; i < n; ++i)
      (*v)[i] = static_cast<int>(scramble(static_cast<std::uint32_t>(i)));
  });
  program.serial([=] { return std::sort(v->begin(), v->end()), sorted(); });
  program.basal([=](posse::runtime& runtime) { return posse::sort(runtime, *v), sorted(); });
  program.tbb([=] { return tbb::parallel_sort(v->begin(), v->end()), sorted(); });
  program.std_par(
    [=] { return std::sort(std::execution::par_unseq, v->begin(), v->end()), sorted(); });
  program.openmp([=] { return __gnu_parallel::sort(v->begin(), v->end()), sorted(); });
  plan.figure("sort_vs_std_par",
              bench::ratio(program.case_of("std_par", 2), program.case_of("basal", 2)));
  plan.figure("sort_overhead",
              bench::ratio(program.case_of("basal", 1), program.case_of("serial", 1)));
}};

// -- matmul -------------------------------------------------------------------

struct matrices {
  std::size_t n;
  floats a;
  floats b;
  floats c;
};

// Rows [first, last) of the product: blocked over the inner dimension so that
// what is used of b stays in the cache.
void multiply_rows(matrices& x, std::size_t first, std::size_t last) {
  constexpr std::size_t block = 64;
  const std::size_t n = x.n;
  const float* a = x.a.data();
  const float* b = x.b.data();
  float* __restrict c = x.c.data();
  std::fill(c + first * n, c + last * n, 0.f);
  for (std::size_t inner = 0; inner < n; inner += block)
    for (std::size_t i = first; i < last; ++i)
      for (std::size_t k = inner; k < std::min(n, inner + block); ++k)
        for (std::size_t j = 0; j < n; ++j)
          c[i * n + j] += a[i * n + k] * b[k * n + j];
}

// Eight rows are the least that makes use of the blocking.
constexpr std::size_t rows = 8;

// b is a permutation matrix that reverses, so the product is a, mirrored.
bool is_right(const matrices& x) {
  for (std::size_t i = 0; i < x.n; ++i)
    for (std::size_t j = 0; j < x.n; ++j)
      if (x.c[i * x.n + j] != x.a[i * x.n + (x.n - 1 - j)])
        return false;
  return true;
}

const bench::suite matmul_suite{[](bench::plan& plan) {
  const std::size_t n = plan.quick() ? 640 : 1024;
  auto x = std::make_shared<matrices>();
  bench::program<bool> program{plan, "matmul", std::to_string(n), true};
  program.setup([=] {
    x->n = n;
    fill(x->a, n * n);
    x->b.assign(n * n, 0.f);
    for (std::size_t i = 0; i < n; ++i)
      x->b[i * n + (n - 1 - i)] = 1.f;
    x->c.resize(n * n);
  });
  program.prepare([=] { std::fill(x->c.begin(), x->c.end(), -1.f); });
  auto panel = [=](std::size_t p) { multiply_rows(*x, p * rows, (p + 1) * rows); };
  program.serial([=] {
    for (std::size_t p = 0; p < n / rows; ++p)
      panel(p);
    return is_right(*x);
  });
  program.basal([=](posse::runtime& runtime) {
    posse::for_each(runtime, std::views::iota(std::size_t{0}, n / rows), panel);
    return is_right(*x);
  });
  program.tbb([=] {
    tbb::parallel_for(std::size_t{0}, n / rows, panel);
    return is_right(*x);
  });
  program.std_par([=] {
    bench::std_par_loop{}(n / rows, panel);
    return is_right(*x);
  });
  program.openmp([=] {
#pragma omp parallel for schedule(dynamic)
    for (std::size_t p = 0; p < n / rows; ++p)
      panel(p);
    return is_right(*x);
  });
}};

} // namespace
