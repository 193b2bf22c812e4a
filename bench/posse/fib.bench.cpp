// fib without a cut-off: nothing but forks. The leaf costs less than a call, so
// what shows is the price of a fork, and at two executors how well thefts of
// large pieces spread it.
//
// Peers: the plain sequential function, as a real call at every level
// ("serial_noinline": without the barrier both compilers turn one of the two
// recursive calls into a loop, which a function of two results cannot be) and
// as the compiler likes it ("serial"); oneTBB's task_group, its API for two
// branches. OpenMP tasks are left out here: at this grain they take seconds.

#include "bench/support/bench.hpp"

#include <basal/posse/posse.hpp>

#include <tbb/task_arena.h>
#include <tbb/task_group.h>

namespace {

using namespace basal;

[[gnu::noinline]] long fib_noinline(int n) {
  if (n < 2)
    return n;
  long a = fib_noinline(n - 1);
  asm volatile("" : "+r"(a));
  long b = fib_noinline(n - 2);
  asm volatile("" : "+r"(b));
  return a + b;
}

long fib_serial(int n) {
  return n < 2 ? n : fib_serial(n - 1) + fib_serial(n - 2);
}

long fib(posse::member& m, int n) {
  if (n < 2)
    return n;
  auto [a, b]
    = m.fork_merge([=](auto& k) { return fib(k, n - 1); }, [=](auto& k) { return fib(k, n - 2); });
  return a + b;
}

inline constexpr posse::pure<fib> pure_fib{"fib"};

long fib_tbb(int n) {
  if (n < 2)
    return n;
  long a = 0;
  long b = 0;
  tbb::task_group group;
  group.run([&] { b = fib_tbb(n - 2); });
  a = fib_tbb(n - 1);
  group.wait();
  return a + b;
}

const bench::suite fib_suite{[](bench::plan& plan) {
  const int n = plan.quick() ? 32 : 37;
  const long expected = fib_noinline(n);
  auto serial = bench::case_name("fib", n, "serial_noinline", 1);
  plan.add(serial,
           [=](benchmark::State& state) {
             bench::check(state, expected, [&] { return fib_noinline(n); });
           },
           {.baseline = serial});
  plan.add(bench::case_name("fib", n, "serial", 1),
           [=](benchmark::State& state) {
             bench::check(state, expected, [&] {
               int hidden = n;
               benchmark::DoNotOptimize(hidden); // else the call is hoisted out of the loop
               return fib_serial(hidden);
             });
           },
           {.baseline = serial});
  for (int threads : {1, 2}) {
    plan.add(bench::case_name("fib", n, "basal", threads),
             [=](benchmark::State& state) {
               posse::runtime_config config;
               config.compute_executors = static_cast<std::size_t>(threads);
               posse::runtime runtime{config};
               bench::check(state, expected, [&] { return pure_fib(runtime, n); });
             },
             {.baseline = serial});
    plan.add(bench::case_name("fib", n, "tbb", threads),
             [=](benchmark::State& state) {
               tbb::task_arena arena{threads};
               bench::check(state, expected,
                            [&] { return arena.execute([&] { return fib_tbb(n); }); });
             },
             {.baseline = serial});
  }
  auto ours = [=](int threads) { return bench::case_name("fib", n, "basal", threads); };
  plan.figure("fib_overhead", bench::ratio(ours(1), serial));
  plan.figure("fib_speedup_2", bench::ratio(ours(1), ours(2)));
  plan.figure("fib_vs_tbb", bench::ratio(bench::case_name("fib", n, "tbb", 2), ours(2)));
}};

} // namespace
