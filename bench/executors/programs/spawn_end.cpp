// fork-join creation (Savina): an actor spawns others, each of which gets one message and ends with
// it. Shows the price of an actor.
//
// Size: actors. Each adds its number to a sum.

#include "program.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

#include <atomic>

namespace basal::bench {

namespace {

using total = std::atomic<std::int64_t>;

caf::behavior mayfly(caf::event_based_actor* self, total* sum) {
  return {[=](std::int64_t number) {
    sum->fetch_add(number, std::memory_order_relaxed); // read once all actors have ended
    self->quit();
  }};
}

void parent(caf::event_based_actor* self, std::int64_t actors, total* sum,
            const caf::actor& observer) {
  for (std::int64_t number = 1; number <= actors; ++number)
    self->send(self->spawn(mayfly, sum), number);
  self->send(observer, std::int64_t{0});
}

} // namespace

extern constinit const program spawn_end{
  .name = "spawn_end",
  .size = 8'000,
  .quick_size = 3'000,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      total sum{0};
      system.spawn(parent, size, &sum, watching.handle());
      watching.sum_of_answers();
      return sum.load(std::memory_order_relaxed);
    },
  .expected = [](std::int64_t size) { return size * (size + 1) / 2; },
};

} // namespace basal::bench
