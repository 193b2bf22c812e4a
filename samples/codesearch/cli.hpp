#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "query.hpp"
#include "run_stats.hpp"

namespace codesearch {

/// The user's choices.
struct options {
  std::vector<std::string> roots;  ///< exist, and none lies inside another
  std::vector<query> queries;      ///< asked when the index is complete
  bool queries_from_stdin = false; ///< one a line; on a terminal asked as they come, else as above
  std::size_t top = 10;            ///< files shown for a query; 0: all
  std::size_t executors = 1;       ///< message executors
  std::size_t compute = 1;         ///< compute executors
  stats_detail stats = stats_detail::none;
  bool strict = false;
  std::string observe; ///< address of the observer; empty: none
};

/// Options, or the status to exit with: then everything is said already.
struct command_line {
  options value;
  bool exits = false;
  int status = 0;
};

/// Exit statuses.
inline constexpr int exit_ok = 0;
inline constexpr int exit_incomplete = 1; ///< failed, lost results, or skipped with --strict
inline constexpr int exit_usage = 2;

/// Parses and checks the command line; prints help to stdout and errors to stderr.
[[nodiscard]] command_line parse_command_line(int argc, char** argv);

} // namespace codesearch
