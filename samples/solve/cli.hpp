#pragma once

#include <basal/solver/solve_options.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace solve {

/// The choices on the command line.
struct options {
  std::string matrix_file;
  std::string rhs_file;     ///< empty: right-hand sides are made up
  std::size_t rhs = 1;      ///< how many
  std::size_t batch = 1000; ///< right-hand sides given to the solver at once, and kept in memory
  std::size_t executors = 0;
  basal::solver::solve_options solver;
  std::string observe;     ///< address of the observer; empty: none
  std::string plot_file;   ///< empty: none
  std::string output_file; ///< empty: none

  /// Of workers that solve; all empty or 0 where this process does.
  /// @{
  std::string cluster;
  std::string ca_file;
  std::string certificate_file;
  std::string key_file;
  std::string journal;
  std::size_t replicas = 0; ///< 0: what the library thinks right
  /// @}
  bool serves = false; ///< is such a worker
};

enum exit_status : int { exit_converged = 0, exit_not_converged = 1, exit_usage = 2 };

struct command_line {
  bool exits = false; ///< with `status`, and everything is said
  int status = exit_converged;
  options value;
};

command_line parse_command_line(int argc, char** argv);

} // namespace solve
