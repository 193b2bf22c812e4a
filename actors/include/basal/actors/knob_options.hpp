#pragma once

#include <basal/mab/knobs.hpp>

#include <caf/fwd.hpp>

namespace basal::actors {

/// The group "basal.mab" of the configuration: what choosers decide by, and whether to measure at
/// the start what an offload costs.
struct knob_options {
  mab::knobs knobs = {};

  /// `basal.mab.calibrate`. Then `basal.mab.offload-overhead-us` is what the start has measured.
  bool calibrate = true;
};

/// Declares the options: one for each knob, named like it with dashes, `k-starve` for `k_starve`.
void add_knob_options(caf::config_option_set& options);

/// Reads and checks them.
/// @throws std::invalid_argument naming the knob, its value and its range
knob_options read_knob_options(const caf::actor_system_config& cfg);

} // namespace basal::actors
