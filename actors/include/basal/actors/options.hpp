#pragma once

#include <basal/actors/knob_options.hpp>
#include <basal/executors/placement.hpp>

#include <caf/fwd.hpp>

#include <chrono>
#include <cstddef>
#include <limits>
#include <string>

namespace basal::actors {

/// What an actor system on basal is built from, read from its configuration: the group "basal",
/// and of the group "scheduler" what CAF's users know.
struct scheduler_options {
  /// `basal.message-executors`, else `scheduler.max-threads`, else one per usable CPU.
  std::size_t message_executors;

  /// `basal.compute-executors`, else one per usable CPU.
  std::size_t compute_executors;

  /// `basal.quantum`, a duration such as 200us.
  std::chrono::nanoseconds quantum;

  /// `basal.stack-bytes`: usable bytes of each fiber's stack.
  std::size_t stack_bytes;

  /// `basal.pinning`: none, spread or compact.
  executors::pinning pin;

  /// `basal.stop-deadline`: how long a stopping system waits for handlers to return, before it ends
  /// the program with a report. Without it, it reports and waits on.
  std::chrono::nanoseconds stop_patience;

  /// `scheduler.max-throughput`: messages that an actor may handle before others have their turn.
  std::size_t max_throughput;

  /// `basal.mab-...`
  knob_options knobs;

  /// Unlimited, as in CAF: the quantum bounds a turn.
  static constexpr std::size_t default_max_throughput = std::numeric_limits<std::size_t>::max();
};

/// Reads and checks the options. What the configuration does not hold comes from the environment,
/// see environment_variable, else it has its default.
/// @throws std::invalid_argument naming the option or variable, its value and its range or type.
scheduler_options read_options(const caf::actor_system_config& cfg);

/// Adds the options of the group "basal" to those that CAF's parser knows.
void add_options(caf::config_option_set& known);

/// As in `basal.pinning`.
const char* to_string(executors::pinning pin) noexcept;

/// BASAL_STACK_BYTES for "stack-bytes".
std::string environment_variable(const char* option);

} // namespace basal::actors
