// How soon a computation that has work for all of them keeps 64 executors busy, on a simulated
// machine: in quanta, from its begin. The higher one of a large range and of a tree of forks.

#include "bench/posse/ramp_up.hpp"

#include "bench/support/bench.hpp"
#include "bench/support/format.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <stdexcept>

namespace {

using namespace basal;

double ramp_up_quanta() {
  const auto range = bench::quanta_of_range(64);
  const auto tree = bench::quanta_of_tree(64);
  std::cout << "64 executors are busy after " << bench::three_digits(range)
            << " quanta of a range, " << bench::three_digits(tree) << " of a tree of forks\n";
  if (!std::isfinite(range) || !std::isfinite(tree))
    throw std::runtime_error{"some executor had no part of a computation"};
  return std::max(range, tree);
}

const bench::suite ramp_up_suite{
  [](bench::plan& plan) { plan.measure("ramp_up_quanta_64", ramp_up_quanta); }};

} // namespace
