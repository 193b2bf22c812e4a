#pragma once

#include <basal/executors/sequential_scope.hpp>

namespace basal::solver {

/// Marks the stretch in which a fiber (or a plain thread) is inside a solve, in
/// which it must not start or await other solves, and what forks runs in place: a
/// solve is sequential, so that its cost is predictable and its permit is enough
/// for it.
class solve_scope : private executors::sequential_scope {
public:
  /// Whether the caller is inside a solve.
  using executors::sequential_scope::active;
};

} // namespace basal::solver
