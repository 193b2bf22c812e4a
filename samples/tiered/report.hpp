#pragma once

#include <vector>

#include "library.hpp"
#include "messages.hpp"

namespace tiered {

/// Prints to stdout how long answers took in each tier, a line for each program and tier:
///
///     tier PROGRAM TIER calls N latency_us L run_us R
///
/// with medians: latency from question to answer, run in the evaluator. Then, for each program,
/// `result PROGRAM VALUE`.
void print_climb(const std::vector<client_report>& clients);

/// Prints `compile TIER ready N failed N mean_ms M longest_ms L` for each tier above 0. The
/// times of native code include waiting for the compilations before it.
void print_compilations(const library& all);

/// Prints how long the interactive client waited, apart for answers during which a compilation ran.
///
///     interactive compiling|quiet answers N p50_us A p99_us B max_us C
void print_interactive(const client_report& prober);

} // namespace tiered
