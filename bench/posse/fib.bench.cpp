// fib without a cut-off: nothing but forks. The leaf costs less than a call, so
// what shows is the price of a fork, and at two executors how well thefts of
// large pieces spread it.
//
// Peers: the plain sequential function, as a real call at every level
// ("serial_noinline": without the barrier both compilers turn one of the two
// recursive calls into a loop, which a function of two results cannot be) and
// as the compiler likes it ("serial"); oneTBB's task_group, its API for two
// branches. OpenMP tasks are left out here: at this grain they take seconds.

#include "bench/posse/fib_forks.hpp"
#include "bench/posse/program.hpp"

#include <tbb/task_group.h>

namespace {

using namespace basal;

long fib_serial(int n) {
  return n < 2 ? n : fib_serial(n - 1) + fib_serial(n - 2);
}

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
  const int n = plan.quick() ? 30 : 35;
  bench::program<long> program{plan, "fib", std::to_string(n), bench::fib_noinline(n)};
  program.serial([=] { return bench::fib_noinline(bench::opaque(n)); }, "serial_noinline");
  program.other_serial([=] { return fib_serial(bench::opaque(n)); }, "serial");
  program.basal([=](posse::runtime& runtime) { return bench::pure_fib(runtime, n); });
  program.tbb([=] { return fib_tbb(n); });
  auto ours = [&](int threads) { return program.case_of("basal", threads); };
  plan.figure("fib_overhead", bench::ratio(ours(1), program.case_of("serial_noinline", 1)));
  plan.figure("fib_speedup_2", bench::ratio(ours(1), ours(2)));
  plan.figure("fib_vs_tbb", bench::ratio(program.case_of("tbb", 2), ours(2)));
}};

} // namespace
