#pragma once

#include <cstdint>
#include <typeinfo>

#include <basal/executors/fwd.hpp>

namespace basal::detail {
class recording;
}

namespace basal::executors {

/// The functions of a kind of work item. One constant table per kind of work.
struct work_ops {
  /// Runs the work on `self`, the calling thread's executor. Must not throw.
  void (*run)(void* object, executor& self) noexcept;

  /// Gives the work back unrun, when an executor pool discards its queues. Any
  /// thread. Releases what the item owns and tells those who wait for it.
  void (*discard)(void* object) noexcept;

  /// Its name in reports; lives as long as the program.
  const char* kind = "a task";

  /// For objects with virtual functions, whose first word tells types apart: the type of one, for
  /// recordings, which call it once a type. Null: all are of one kind.
  const std::type_info& (*type_of)(const void* object) noexcept = nullptr;

  /// For recordings, on the executor that is about to run the object: what it is asked to do, as
  /// the number of a name (record_names), or 0. Null: nothing in particular.
  std::uint16_t (*asked_of)(void* object, detail::recording& into) noexcept = nullptr;

  /// For objects that do several things in a turn, as an actor with several messages, on the
  /// executor that runs the object: whether more waits than what it does now. Null: it is not
  /// known, and taken for no.
  bool (*has_more)(void* object) noexcept = nullptr;
};

/// A piece of work in a queue: two words, so that queueing an actor, a
/// suspended fiber, a delegation or a plain task allocates nothing. An item
/// owns what its table says it owns; a queue hands it to exactly one of `run`
/// and `discard`, once.
struct work_item {
  void* object = nullptr;        ///< of the kind that `ops` knows
  const work_ops* ops = nullptr; ///< null: no work

  /// Whether there is work.
  explicit operator bool() const noexcept {
    return ops != nullptr;
  }
};

} // namespace basal::executors
