#pragma once

#include <cstddef>

#include <basal/executors/fwd.hpp>

namespace basal::executors {

/// The stretch in which a fiber, or a plain thread, does something that must not
/// be divided among executors: what forks within it runs in place. Branches that
/// were forked before it began may go elsewhere all the same.
///
/// A property of the fiber, not of its thread: what has a turn in the meantime is
/// not concerned. Awaited work that is handed over within it is a part of it; work
/// that goes on alone is not. Scopes nest. Only for local variables.
class sequential_scope {
public:
  sequential_scope() noexcept;
  ~sequential_scope();

  sequential_scope(const sequential_scope&) = delete;
  sequential_scope& operator=(const sequential_scope&) = delete;

  static void* operator new(std::size_t) = delete;

  /// For std::optional and the like, which put it into a local variable's place.
  static void* operator new(std::size_t, void* place) noexcept {
    return place;
  }

  /// Whether the caller is inside of one.
  static bool active() noexcept;

private:
  /// The place in which the outermost scope is noted; null: this is not the outermost one.
  const void** noted_;
};

} // namespace basal::executors
