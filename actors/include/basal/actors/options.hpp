#pragma once

#include <basal/actors/knob_options.hpp>

#include <caf/fwd.hpp>

#include <chrono>
#include <cstddef>

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

  /// `scheduler.max-throughput`: messages that an actor may handle before others have their turn.
  std::size_t max_throughput;

  /// `basal.mab-...`
  knob_options knobs;

  /// CAF's own default is unlimited. An actor that never finds its mailbox empty would then keep
  /// its executor for ever. 32 messages of 6 us fill the default quantum; at CAF's 0.2 us a message
  /// the extra turn through the run queue costs less than 1 %.
  static constexpr std::size_t default_max_throughput = 32;
};

/// Reads and checks the options.
/// @throws std::invalid_argument naming the option, its value and its range.
scheduler_options read_options(const caf::actor_system_config& cfg);

} // namespace basal::actors
