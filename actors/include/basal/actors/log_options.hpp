#pragma once

#include <array>
#include <cstddef>
#include <iterator>

namespace basal::actors {

/// Modules with a logger of their own. A closed set: an enumerator and its row in log_names make a
/// logger and an option.
enum class log_module : unsigned char {
  executors,
  posse,
  mab,
  priority,
  solver,
  actors,
  count ///< last: how many there are
};

inline constexpr std::size_t log_module_count = static_cast<std::size_t>(log_module::count);

/// The loggers' names. Behind the prefix they are the modules'.
inline constexpr const char* log_names[] = {"basal.executors", "basal.posse",  "basal.mab",
                                            "basal.priority",  "basal.solver", "basal.actors"};
static_assert(std::size(log_names) == log_module_count, "each module has a logger");

/// spdlog's levels in its order, after the one that leaves a logger's level as it is.
enum class log_level : unsigned char { unset, trace, debug, info, warn, error, critical, off };

const char* to_string(log_level level) noexcept;

/// The options `basal.log-...`.
struct log_options {
  log_level level = log_level::unset; ///< of the modules that have none of their own

  /// By log_module: the level of its logger.
  std::array<log_level, log_module_count> of = {};

  /// Lines that actors print with `caf::aout`, CAF's own reports among them, go to the logger
  /// "aout" instead of standard output.
  bool aout = false;
};

/// Sets the levels of this process's loggers, and has the modules' reports go to them unless the
/// program has set a sink itself. The constructor of each actor system calls it. Any thread.
void start_log(const log_options& options);

} // namespace basal::actors
