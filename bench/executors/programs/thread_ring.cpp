// thread ring (Savina): 100 actors in a ring pass a token on. As in ping-pong one actor is runnable
// at any time, but its data are cold.
//
// Size: hops, counted down by the token; the actor that sees 0 says how far the token has come.
// Then the token goes round once more and ends the ring.

#include "program.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

namespace basal::bench {

namespace {

constexpr std::int64_t ring_size = 100;

caf::behavior link(caf::event_based_actor* self, const caf::actor& next, std::int64_t position,
                   const caf::actor& observer) {
  return {[=](std::int64_t hops_left) {
    if (hops_left == 0)
      self->send(observer, position);
    if (hops_left > -(ring_size - 1))
      self->send(next, hops_left - 1);
    if (hops_left <= 0)
      self->quit();
  }};
}

// Gets its successor by message, since a ring has no actor whose successor exists before it.
caf::behavior first_link(caf::event_based_actor* self, const caf::actor& observer) {
  return {[=](const caf::actor& next) { self->become(link(self, next, 0, observer)); }};
}

} // namespace

extern constinit const program thread_ring{
  .name = "thread_ring",
  .size = 40'000,
  .quick_size = 8'000,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      const auto first = system.spawn(first_link, watching.handle());
      auto next = first;
      for (std::int64_t position = ring_size - 1; position > 0; --position)
        next = system.spawn(link, next, position, watching.handle());
      caf::anon_send(first, next);
      caf::anon_send(first, size);
      return watching.sum_of_answers();
    },
  .expected = [](std::int64_t size) { return size % ring_size; },
};

} // namespace basal::bench
