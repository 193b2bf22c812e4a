#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "machine.hpp"

namespace tiered {

/// The user's choices.
struct options {
  std::vector<std::string> files;
  std::vector<std::string> calls; ///< empty: serve main() of each program under load
  bool calls_from_stdin = false;
  std::size_t requests = 0; ///< of each program under load
  std::chrono::microseconds pause{};
  bool compile_in_handler = false;
  limits bounds;
  std::vector<std::uint64_t> thresholds;
  std::size_t executors = 1; ///< message executors
  std::size_t compute = 1;   ///< compute executors
  std::string observe;       ///< address of the observer; empty: none
};

/// Options, or the status to exit with: then everything is said already.
struct command_line {
  options value;
  bool exits = false;
  int status = 0;
};

/// Exit statuses.
inline constexpr int exit_ok = 0;
inline constexpr int exit_failed = 1; ///< a request had no result, or results were lost
inline constexpr int exit_usage = 2;  ///< wrong usage, or a file is no program

/// Parses and checks the command line; prints help to stdout and errors to stderr.
[[nodiscard]] command_line parse_command_line(int argc, char** argv);

} // namespace tiered
