#pragma once

#include <caf/fwd.hpp>

namespace codesearch {

/// How much `--stats` says.
enum class stats_detail {
  none,
  summary, ///< a few lines for people, each shorter than 100 characters
  full,    ///< every counter, as CAF's inspector prints it
};

/// Prints to stdout what executors, pure functions and background work did; every line starts
/// with "stats".
void print_stats(caf::actor_system& system, stats_detail detail);

} // namespace codesearch
