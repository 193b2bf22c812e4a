// A row of small computations of some 150 us, one after the other: adaptive
// quadrature by Simpson's rule, with a fork at every interval that is halved.
// That is less than a quantum; what counts is that a row of them is not slower
// than the serial program, however many CPUs have nothing to do.

#include "bench/posse/fork.hpp"

#include <cmath>

namespace {

using namespace basal;

constexpr int integrals = 32;

double peak(double x) {
  return 1. / (1e-4 + x * x);
}

struct interval {
  double from;
  double to;
  double at_from;
  double at_middle;
  double at_to;

  double simpson() const {
    return (to - from) / 6 * (at_from + 4 * at_middle + at_to);
  }

  interval left() const {
    const double middle = (from + to) / 2;
    return {from, middle, at_from, peak((from + middle) / 2), at_middle};
  }

  interval right() const {
    const double middle = (from + to) / 2;
    return {middle, to, at_middle, peak((middle + to) / 2), at_to};
  }
};

template <class Fork>
double integrate(Fork fork, const interval& whole, double tolerance) {
  const auto left = whole.left();
  const auto right = whole.right();
  const double halves = left.simpson() + right.simpson();
  if (std::abs(halves - whole.simpson()) < 15 * tolerance)
    return halves;
  double a = 0;
  double b = 0;
  fork([&](auto f) { a = integrate(f, left, tolerance / 2); },
       [&](auto f) { b = integrate(f, right, tolerance / 2); });
  return a + b;
}

template <class Fork>
double one_integral(Fork fork, int i) {
  const double from = -1 - i * 1e-3;
  return integrate(fork, {from, 1, peak(from), peak((from + 1) / 2), peak(1)}, 2e-12);
}

double expected() {
  double sum = 0;
  for (int i = 0; i < integrals; ++i)
    sum += 100 * (std::atan(100.) + std::atan(100 * (1 + i * 1e-3)));
  return sum;
}

const bench::suite small_suite{[](bench::plan& plan) {
  bench::program<bench::about> program{
    plan, "small_trees", std::to_string(integrals), {expected()}, bench::counted_in::nothing};
  const auto row = [](auto integral) {
    double sum = 0;
    for (int i = 0; i < integrals; ++i)
      sum += integral(i);
    return bench::about{sum};
  };
  program.serial([=] { return row([](int i) { return one_integral(bench::serial_fork{}, i); }); });
  program.basal([=](posse::runtime& runtime) {
    return row([&](int i) {
      return runtime.run([=](posse::member& m) { return one_integral(bench::basal_fork{m}, i); });
    });
  });
  program.tbb([=] { return row([](int i) { return one_integral(bench::tbb_fork{}, i); }); });
  plan.figure("small_trees_overhead", [](const bench::results& r) {
    const auto time = [&](const char* impl, int cpus) {
      return r.median_ns(bench::case_name("small_trees", integrals, impl, cpus));
    };
    double worst = 0;
    for (int cpus : bench::cpu_counts())
      worst = std::max(worst, time("basal", cpus) / time("serial", 1));
    return worst;
  });
}};

} // namespace
