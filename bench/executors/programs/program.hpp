/// Actor programs that run on any CAF scheduler: each is compiled once and given actor systems of
/// stock CAF and of basal, so that all measure the same code.
#pragma once

#include <caf/fwd.hpp>
#include <caf/scoped_actor.hpp>

#include <cstdint>
#include <span>

namespace basal::bench {

struct program {
  const char* name;
  std::int64_t size;       ///< how many things a run does; what they are says the program's file
  std::int64_t quick_size; ///< the same with --quick

  /// Runs it once on a system without other actors, which it leaves without actors again: what a
  /// program leaves to clean up belongs to its time. Call it from a plain thread.
  /// @throws std::runtime_error if there is no answer for 30 s
  std::int64_t (*run)(caf::actor_system& system, std::int64_t size);

  /// The right answer.
  std::int64_t (*expected)(std::int64_t size);

  /// Of a program that is a tree of actors: the size at which its peak memory is a figure. If all
  /// actors of that tree live at once, their memory is most of the process's.
  std::int64_t memory_size = 0;
};

/// All of them, one file each.
std::span<const program* const> all_programs();

/// The thread that runs a program: programs send their answers to `handle()`.
class observer {
public:
  explicit observer(caf::actor_system& system);

  caf::actor handle() const;

  /// The sum of the next `count` answers (std::int64_t), once all actors of the system have ended.
  /// @throws std::runtime_error if one does not come for 30 s; the system's destructor will not
  ///         wait for its actors then.
  std::int64_t sum_of_answers(std::int64_t count = 1);

  /// The same without waiting for actors.
  std::int64_t sum_of(std::int64_t count);

  /// Waits until all actors of the system have ended.
  void await_end();

private:
  caf::scoped_actor self_;
};

} // namespace basal::bench
