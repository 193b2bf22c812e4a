#pragma once

#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/warnings.hpp>

#include <caf/fwd.hpp>

#include <atomic>

namespace misbehave {

/// Misbehaviour of a program that raises one warning.
struct misbehaviour {
  /// The options that it needs; null: none.
  void (*prepare)(basal::actor_system_config& config) = nullptr;

  /// Begins it. It ends when `stop` becomes true, of which it is notified.
  void (*begin)(caf::actor_system& system, const std::atomic<bool>& stop) = nullptr;
};

/// The misbehaviour that raises `kind`. `begin` is null where this build has none.
misbehaviour of(basal::actors::warning_kind kind);

} // namespace misbehave
