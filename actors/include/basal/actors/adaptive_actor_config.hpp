#pragma once

#include <basal/mab/hints.hpp>
#include <basal/mab/knobs.hpp>

#include <caf/fwd.hpp>

#include <optional>
#include <string>

namespace basal::actors {

/// How one actor's adaptive handler, stream or one-shot decides. Everything has a default.
struct adaptive_actor_config {
  /// Under which name it is counted. Handlers of one name and type share what they learn. Empty:
  /// the actor's name and the types of the message, "user.scheduled-actor/int".
  std::string name = {};

  /// The handler's expected cost, until it was observed. A message type may say more, see
  /// mab::hint_of; the more pessimistic of the two counts.
  mab::compute_hint hint = mab::compute_hint::unknown;

  /// Empty: those of the actor system, see knobs_of(). To change one of them, start from there, for
  /// they hold the overhead of an offload as it was measured at the start:
  ///
  ///     auto knobs = basal::actors::knobs_of(self->system());
  ///     knobs.t_block_hard_us = 500;
  std::optional<mab::knobs> knobs = std::nullopt;
};

/// The knobs of the options "basal.mab-..." of the configuration, and the measured overhead of an
/// offload. Any thread.
/// @throws std::logic_error if `system` does not run on basal.
const mab::knobs& knobs_of(caf::actor_system& system);

} // namespace basal::actors
