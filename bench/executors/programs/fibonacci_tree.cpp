// recursive Fibonacci (Savina): an actor for each call, which spawns two and adds their answers up.
// The tree is deep on one side. Run depth first it has a few actors at a time, breadth first all.
//
// Size: n of the n-th number; 2 fib(n + 1) - 1 actors.

#include "program.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

namespace basal::bench {

namespace {

caf::behavior call(caf::event_based_actor* self, std::int64_t n, const caf::actor& caller) {
  if (n < 2) {
    self->send(caller, n);
    return {}; // without behavior it ends
  }
  const caf::actor me{self};
  self->spawn(call, n - 1, me);
  self->spawn(call, n - 2, me);
  return {[=, sum = std::int64_t{0}, answers = 0](std::int64_t value) mutable {
    sum += value;
    if (++answers == 2) {
      self->send(caller, sum);
      self->quit();
    }
  }};
}

} // namespace

extern constinit const program fibonacci_tree{
  .name = "fibonacci_tree",
  .size = 18,
  .quick_size = 15,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      system.spawn(call, size, watching.handle());
      return watching.sum_of_answers();
    },
  .expected =
    [](std::int64_t size) {
      std::int64_t now = 0;
      std::int64_t next = 1;
      for (std::int64_t i = 0; i < size; ++i) {
        next += now;
        now = next - now;
      }
      return now;
    },
  .memory_size = 22,
};

} // namespace basal::bench
