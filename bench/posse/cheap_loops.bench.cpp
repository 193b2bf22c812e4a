// Loops of 10^3 to 10^7 floats that cost less than a nanosecond each: a triad,
// which writes them, and a sum. (The sum of 10^7 is in ranges.bench.cpp.) A
// thousand are done in the time in which a thread is woken; what counts there is
// how much slower than the serial loop it is.
//
// And a count of 10^4 to 10^6 numbers, as loops over an int are written: it takes six times as long
// where the compiler does not make vector instructions of it.

#include "bench/posse/loop.hpp"

#include <tbb/parallel_reduce.h>

#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

namespace {

using namespace basal;

// Up to 1 ms of passes, at least one; at most 500, since some peers take 10 us
// and more for the smallest.
std::size_t passes_over(std::size_t n) {
  return std::clamp<std::size_t>(1'000'000 / n, 1, 500);
}

// -- triad --------------------------------------------------------------------

struct arrays {
  std::vector<float> a;
  std::vector<float> b;
  std::vector<float> c;
};

template <class Loop>
bool triads(arrays& x, Loop loop) {
  const std::size_t n = x.a.size();
  float factor = 0;
  for (std::size_t pass = 0; pass < passes_over(n); ++pass) {
    factor = static_cast<float>(pass + 1);
    loop(n, [=, a = x.a.data(), b = x.b.data(), c = x.c.data()](std::size_t i) {
      a[i] = b[i] + factor * c[i];
    });
    asm volatile("" ::: "memory");
  }
  // To look at all of them would take as long as a pass.
  for (std::size_t i = 0; i < n; i += 1 + n / 512)
    if (x.a[i] != x.b[i] + factor * x.c[i])
      return false;
  return x.a.back() == x.b.back() + factor * x.c.back();
}

void add_triad(bench::plan& plan, std::size_t n) {
  auto x = std::make_shared<arrays>();
  bench::program<bool> program{plan, "triad", std::to_string(n), true, bench::counted_in::loops};
  program.setup([=] {
    if (!x->a.empty())
      return;
    x->a.resize(n);
    x->b.resize(n);
    x->c.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      x->b[i] = static_cast<float>(i % 1000);
      x->c[i] = static_cast<float>(i % 7);
    }
  });
  program.prepare([=] { x->a.back() = -1.f; });
  bench::add_loop_cases(program, bench::elements::alike,
                        [=](auto loop) { return triads(*x, loop); });
}

// -- sum ----------------------------------------------------------------------

void add_sum(bench::plan& plan, std::size_t n) {
  const std::size_t passes = passes_over(n);
  auto v = std::make_shared<std::vector<float>>();
  auto again = [=](auto sum) {
    double total = 0;
    for (std::size_t pass = 0; pass < passes; ++pass) {
      total += static_cast<double>(sum());
      asm volatile("" ::: "memory");
    }
    return bench::about{total / static_cast<double>(passes)};
  };
  // Halves, so that nothing is rounded below 2^24.
  bench::program<bench::about> program{
    plan, "sum", std::to_string(n), {static_cast<double>(n) / 2}, bench::counted_in::loops};
  program.setup([=] { v->assign(n, 0.5f); });
  program.serial([=] { return again([&] { return std::reduce(v->begin(), v->end(), 0.f); }); });
  program.basal([=](posse::runtime& runtime) {
    return again([&] { return posse::reduce(runtime, *v, 0.f); });
  });
  const auto by_tbb = [=](const auto& partitioner) {
    using range = tbb::blocked_range<const float*>;
    return tbb::parallel_reduce(
      range{v->data(), v->data() + n}, 0.f,
      [](const range& r, float sum) { return std::reduce(r.begin(), r.end(), sum); }, std::plus<>{},
      partitioner);
  };
  program.tbb([=] { return again([&] { return by_tbb(tbb::auto_partitioner{}); }); });
  program.tbb([=] { return again([&] { return by_tbb(tbb::static_partitioner{}); }); },
              "tbb_static");
  program.std_par([=] {
    return again([&] { return std::reduce(std::execution::par_unseq, v->begin(), v->end(), 0.f); });
  });
  program.openmp(
    [=] {
      return again([&] {
        float sum = 0;
        const float* from = v->data();
#pragma omp parallel for simd reduction(+ : sum) schedule(static)
        for (std::size_t i = 0; i < n; ++i)
          sum += from[i];
        return sum;
      });
    },
    "openmp_static");
}

// -- count --------------------------------------------------------------------

void add_count(bench::plan& plan, int n) {
  const auto passes = passes_over(static_cast<std::size_t>(n));
  auto v = std::make_shared<std::vector<int>>();
  const auto expected = (n + 2) / 3;
  bench::program<bool> program{plan, "count", std::to_string(n), true, bench::counted_in::loops};
  program.setup([=] {
    v->clear();
    for (int i = 0; i < n; ++i)
      v->push_back(i % 3 * 5);
  });
  bench::add_loop_cases(program, bench::elements::alike, [=](auto loop) {
    bool is_right = true;
    for (std::size_t pass = 0; pass < passes; ++pass) {
      const int count = loop.reduce(
        n, 0, [from = v->data()](int i) { return from[i] < 5 ? 1 : 0; }, std::plus<>{});
      is_right = is_right && count == expected;
      asm volatile("" ::: "memory");
    }
    return is_right;
  });
}

// The dearest of a thousand elements, in multiples of the serial loop.
double overhead_of_1000(const bench::results& r) {
  double worst = 0;
  for (const char* name : {"triad", "sum"})
    for (int cpus : bench::cpu_counts())
      worst = std::max(worst, r.median_ns(bench::case_name(name, 1000, "basal", cpus))
                                / r.median_ns(bench::case_name(name, 1000, "serial", 1)));
  return worst;
}

const bench::suite cheap_suite{[](bench::plan& plan) {
  for (std::size_t n : {1'000, 10'000, 100'000, 1'000'000, 10'000'000})
    if (!plan.quick() || n == 1'000 || n == 1'000'000) {
      add_triad(plan, n);
      if (n < 10'000'000)
        add_sum(plan, n);
    }
  for (int n : {10'000, 100'000, 1'000'000})
    if (!plan.quick() || n == 100'000)
      add_count(plan, n);
  plan.figure("cheap_1000_overhead", overhead_of_1000);
}};

} // namespace
