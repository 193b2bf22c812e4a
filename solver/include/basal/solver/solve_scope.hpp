#pragma once

namespace basal::solver {

/// Marks the stretch in which a fiber (or a plain thread) is inside a solve, in
/// which it must not start or await other solves: a solve is sequential, so that
/// its cost is predictable and its permit is enough for it.
///
/// Precise when fibers interleave on a thread: a solve that lets other work have
/// its turn does not mark that work.
class solve_scope {
public:
  solve_scope() noexcept;
  ~solve_scope();

  solve_scope(const solve_scope&) = delete;
  solve_scope& operator=(const solve_scope&) = delete;

  /// Whether the caller is inside a solve.
  static bool active() noexcept;

private:
  // All scopes of a thread are linked. A fiber never changes its thread, so no
  // other thread comes near them.
  const void* fiber_;
  solve_scope* previous_ = nullptr;
  solve_scope* next_ = nullptr;
};

} // namespace basal::solver
