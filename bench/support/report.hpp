/// The two forms of a run's results: a table for people, JSON for programs.
#pragma once

#include "bench/support/machine.hpp"
#include "bench/support/options.hpp"
#include "bench/support/results.hpp"
#include "bench/support/runner.hpp"

#include <iosfwd>
#include <string>

namespace basal::bench {

struct report {
  std::string module;
  machine where;
  options how;
  results cases;
  figures_result figures;
  double seconds = 0; ///< the whole run took
};

/// One aligned row a case (median, spread, time relative to its baseline), an empty line
/// between workloads, what failed, and last one `figure NAME VALUE` line per figure.
void print_table(std::ostream& out, const report& r);

/// The same and every single repetition, times in ns.
std::string to_json(const report& r);

/// Did every case and figure succeed?
bool succeeded(const report& r);

} // namespace basal::bench
