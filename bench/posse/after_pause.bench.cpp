// A computation of a millisecond after a pause in which all threads went to sleep, as that of a
// handler which is asked now and then: how soon does another CPU take part, if it does at all?
// Linux often wakes a thread on the CPU of its waker, which computes.
//
// after_pause_speedup          the serial program's time over basal's, medians, on all CPUs
// after_pause_speedup_p90      the same with the 90th percentile of basal's times
// after_pause_speedup_tbb      the same two of oneTBB's parallel_invoke
// after_pause_speedup_p90_tbb
//
// In turns, a pause of 3 ms before each. OpenMP's threads look for work for longer than that.

#include "bench/posse/fork.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using namespace basal;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

long fib_in_sequence(int n) {
  return n < 2 ? n : fib_in_sequence(n - 1) + fib_in_sequence(n - 2);
}

template <class Fork>
long fib(const Fork& fork, int n) {
  if (n < 18) // 3 us
    return fib_in_sequence(n);
  long a = 0;
  long b = 0;
  fork([&a, n](const auto& f) { a = fib(f, n - 1); },
       [&b, n](const auto& f) { b = fib(f, n - 2); });
  return a + b;
}

enum runner { serially, on_basal, on_tbb, num_runners };

/// Times of the computation, sorted, in microseconds.
using times = std::array<std::vector<double>, num_runners>;

times measure(int n, int rounds) {
  posse::runtime runtime;
  const long expected = fib_in_sequence(n);
  times result;
  const auto time = [&](runner who, auto compute) {
    std::this_thread::sleep_for(3ms);
    const auto start = clock_type::now();
    const long answer = compute();
    const std::chrono::duration<double, std::micro> took = clock_type::now() - start;
    if (answer != expected)
      throw std::runtime_error("a wrong answer");
    result[who].push_back(took.count());
  };
  for (int round = 0; round < rounds; ++round) {
    time(serially, [&] { return fib_in_sequence(bench::opaque(n)); });
    time(on_basal, [&] {
      return runtime.run([&](posse::member& m) { return fib(bench::basal_fork{m}, n); });
    });
    time(on_tbb, [&] { return fib(bench::tbb_fork{}, n); });
  }
  for (auto& x : result)
    std::sort(x.begin(), x.end());
  return result;
}

const bench::suite after_pause_suite{[](bench::plan& plan) {
  const auto speedup = [quick = plan.quick()](runner who, std::size_t percentile) {
    static const times all = measure(31, quick ? 50 : 200);
    const auto at = [](const std::vector<double>& x, std::size_t percent) {
      return x[x.size() * percent / 100];
    };
    return at(all[serially], 50) / at(all[who], percentile);
  };
  plan.measure("after_pause_speedup", [=] { return speedup(on_basal, 50); });
  plan.measure("after_pause_speedup_p90", [=] { return speedup(on_basal, 90); });
  plan.measure("after_pause_speedup_tbb", [=] { return speedup(on_tbb, 50); });
  plan.measure("after_pause_speedup_p90_tbb", [=] { return speedup(on_tbb, 90); });
}};

} // namespace
