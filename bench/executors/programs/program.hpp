/// Actor programs that run on any CAF scheduler: each is compiled once and given actor systems of
/// stock CAF and of basal, so that all measure the same code.
#pragma once

#include <caf/fwd.hpp>
#include <caf/scoped_actor.hpp>

#include <cstdint>

namespace basal::bench {

struct program {
  const char* name;
  std::int64_t size;       ///< how many things a run does; what they are says the program's file
  std::int64_t quick_size; ///< the same with --quick: 5 to 40 ms

  /// Runs it once on a system without other actors, which it leaves without actors again: what a
  /// program leaves to clean up belongs to its time. Call it from a plain thread.
  /// @throws std::runtime_error if there is no answer for two minutes
  std::int64_t (*run)(caf::actor_system& system, std::int64_t size);

  /// The right answer.
  std::int64_t (*expected)(std::int64_t size);
};

// One file each.
extern const program ping_pong;
extern const program pairs;
extern const program thread_ring;
extern const program fan_in;
extern const program mailbox;
extern const program big;
extern const program creation_tree;
extern const program chameneos;
extern const program fork_join;
extern const program mixed_case;

inline constexpr const program* all_programs[]
  = {&ping_pong, &pairs,         &thread_ring, &fan_in,    &mailbox,
     &big,       &creation_tree, &chameneos,   &fork_join, &mixed_case};

/// The thread that runs a program: programs send their answers to `handle()`.
class observer {
public:
  explicit observer(caf::actor_system& system);

  caf::actor handle() const;

  /// The sum of the next `count` answers (std::int64_t), once all actors of the system have ended.
  /// @throws std::runtime_error if one does not come for two minutes; the system's destructor will
  ///         not wait for its actors then.
  std::int64_t sum_of_answers(std::int64_t count = 1);

private:
  caf::scoped_actor self_;
};

} // namespace basal::bench
