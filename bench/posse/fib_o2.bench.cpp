// The forks of fib.bench.cpp in a file that is compiled with -O2, as many programs
// are: g++ then inlines fewer of them into one another.

#include "bench/posse/fib_forks.hpp"
#include "bench/posse/program.hpp"

namespace {

using namespace basal;

const bench::suite fib_suite{[](bench::plan& plan) {
  const int n = plan.quick() ? 30 : 35;
  bench::program<long> program{plan, "fib_o2", std::to_string(n), bench::fib_noinline(n),
                               bench::counted_in::nothing};
  program.serial([=] { return bench::fib_noinline(bench::opaque(n)); }, "serial_noinline");
  program.basal([=](posse::runtime& runtime) { return bench::pure_fib(runtime, n); });
  plan.figure("fib_overhead_o2",
              bench::ratio(program.case_of("basal", 1), program.case_of("serial_noinline", 1)));
}};

} // namespace
