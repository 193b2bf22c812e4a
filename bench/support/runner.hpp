/// Runs a plan with Google Benchmark: repetitions of all cases in random order, so that a
/// disturbance of the machine hits every case alike.
#pragma once

#include "bench/support/options.hpp"
#include "bench/support/results.hpp"
#include "bench/support/suite.hpp"

#include <string>
#include <vector>

namespace basal::bench {

/// Runs the cases whose names match options.filter. A case that throws, reports an error or
/// never enters its timing loop is marked with the reason; it does not stop the others.
/// Call at most once per process (Google Benchmark's registry is global).
results run_cases(const plan& what, const options& how);

struct figures_result {
  std::vector<figure_result> values;
  std::vector<std::string> failures; ///< "NAME: why", one for each that should be there but isn't
};

/// Computes the figures. Those that a filter makes impossible are left out silently.
figures_result compute_figures(const plan& what, const results& from, const options& how);

} // namespace basal::bench
