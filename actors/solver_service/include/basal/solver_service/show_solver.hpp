#pragma once

#include <basal/actors/solving_stats.hpp>
#include <basal/solver/batch.hpp>

#include <caf/fwd.hpp>

namespace basal::actors {

/// Shows what `solver` does in the statistics of `system` (system_stats::solver), until the result
/// is destroyed, which must be before the solver is. A service shows its own solver; this is for
/// programs that call one without an actor. A solve does nothing for it; to read takes the lock of
/// the permits, for an instruction, and those of the plans.
/// @throws std::logic_error if `system` does not run on basal
[[nodiscard]] solver_source show_solver(caf::actor_system& system,
                                        const solver::batch_solver& solver);

} // namespace basal::actors
