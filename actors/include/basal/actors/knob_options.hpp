#pragma once

#include <basal/mab/knobs.hpp>

#include <caf/fwd.hpp>

namespace basal::actors {

/// The options "basal.mab-..." of the configuration: what choosers decide by, and whether to
/// measure at the start what an offload costs.
struct knob_options {
  mab::knobs knobs = {};

  /// `basal.mab-calibrate`. Then `basal.mab-offload-overhead-us` is what the start has measured.
  bool calibrate = true;
};

/// Declares the options: one for each knob, named like it with dashes, `--basal.mab-k-starve=0.2`
/// for `k_starve`, BASAL_MAB_K_STARVE in the environment. CAF's command line can only turn flags
/// on, so `mab-calibrate = false` belongs into a file, the environment or `set`.
void add_knob_options(caf::config_option_set& options);

/// Reads and checks them.
/// @throws std::invalid_argument naming the knob, its value and its range or type
knob_options read_knob_options(const caf::actor_system_config& cfg);

/// Adds those that are missing to the group "basal" of a configuration that is shown to somebody.
void put_missing_knobs(const knob_options& options, caf::settings& basal_group);

} // namespace basal::actors
