#pragma once

#include <basal/actors/log_options.hpp>
#include <basal/mab/knobs.hpp>
#include <basal/posse/config.hpp>

#include <caf/fwd.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <string>

namespace basal::actors {

/// The settings that choosers decide by: the options `basal.mab-...`, one for each knob.
struct knob_options {
  /// The options `basal.mab-...` of their names.
  mab::knobs knobs = {};

  /// `basal.mab-calibrate`: measure, before the first adaptive handler, what an offload costs. Then
  /// `basal.mab-offload-overhead-us` is what was measured.
  bool calibrate = true;
};

/// The settings that an actor system on basal is built from, with the defaults.
/// The option that sets a field is named in the table of src/option_table.cpp, and nowhere else.
struct scheduler_options {
  /// At least 4, as in CAF: a handler that blocks its thread, in a request of a `scoped_actor` say,
  /// keeps its executor from running the actor that it waits for.
  static constexpr std::size_t least_by_default = 4;

  /// A century, which fits into every clock.
  static constexpr std::chrono::nanoseconds no_deadline = std::chrono::hours{24 * 365 * 100};

  /// Executors that run actors.
  std::size_t message_executors = std::max(executors::usable_cpus(), least_by_default);

  /// The executors of pure functions, and what all executors have in common.
  posse::runtime_config compute;

  /// How long a stopping system waits for handlers to return, before it ends the program with a
  /// report. Without it, it reports and waits on.
  std::chrono::nanoseconds stop_patience = no_deadline;

  /// Messages that an actor may handle before others have their turn. Unlimited, as in CAF: the
  /// quantum bounds a turn.
  std::size_t max_throughput = std::numeric_limits<std::size_t>::max();

  /// End the program if a pure function sends a message that wakes an actor, or spawns one.
  bool check_effects = true;

  knob_options adaptive; ///< how choosers decide

  log_options log; ///< the level of each logger

  /// Address and port of an observer, if the program makes one; empty: it does not listen.
  std::string observer;
};

/// Reads and checks the options. An option that the configuration does not hold comes from the
/// environment, see environment_variable, else it has its default.
/// @throws std::invalid_argument naming the option or variable, its value and its range or type.
scheduler_options read_options(const caf::actor_system_config& cfg);

/// Adds the options of the group "basal" to those that CAF's parser knows.
void add_options(caf::config_option_set& known);

/// The lines of `--help` about them: all except adaptive handlers', which `--long-help` lists.
std::string help_text();

/// The same as the table of docs/options.md: name, environment variable, meaning and default.
std::string option_table();

/// BASAL_STACK_BYTES for "stack-bytes".
std::string environment_variable(const std::string& option);

} // namespace basal::actors
