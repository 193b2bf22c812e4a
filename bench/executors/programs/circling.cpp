// Circling: five messages go round 200 actors that do nothing but pass them on. Where one comes to
// an actor that has another one yet, they go on together, in one turn of each actor. A thread puts
// them on their way while the actors begin, so they do not set out together.
//
// Size: hops of each message. The answer is the sum of the numbers of the actors where they end.

#include "program.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <cstddef>
#include <vector>

namespace basal::bench {

namespace {

constexpr std::int64_t ring_size = 200;
constexpr std::int64_t num_messages = 5;

struct place_in_ring {
  caf::actor next; ///< until the end, or the ring would keep itself in memory
};

caf::behavior passes_on(caf::stateful_actor<place_in_ring>* self, std::int64_t number,
                        const caf::actor& observer) {
  return {
    [=](const caf::actor& next) { self->state.next = next; },
    [=](std::int64_t hops_left) {
      if (hops_left > 0)
        self->send(self->state.next, hops_left - 1);
      else
        self->send(observer, number);
    },
    [=](caf::ok_atom) { self->quit(); },
  };
}

} // namespace

extern constinit const program circling{
  .name = "circling",
  .size = 16'000,
  .quick_size = 2'000,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      std::vector<caf::actor> ring;
      for (std::int64_t i = 0; i < ring_size; ++i)
        ring.push_back(system.spawn(passes_on, i, watching.handle()));
      for (std::size_t i = 0; i < ring.size(); ++i)
        caf::anon_send(ring[i], ring[(i + 1) % ring.size()]);
      for (std::int64_t i = 0; i < num_messages; ++i)
        caf::anon_send(ring[static_cast<std::size_t>(i * ring_size / num_messages)], size);
      const auto sum = watching.sum_of(num_messages);
      for (const auto& each : ring)
        caf::anon_send(each, caf::ok_atom::value);
      watching.await_end();
      return sum;
    },
  .expected =
    [](std::int64_t size) {
      std::int64_t sum = 0;
      for (std::int64_t i = 0; i < num_messages; ++i)
        sum += (i * ring_size / num_messages + size) % ring_size;
      return sum;
    },
};

} // namespace basal::bench
