// counting (Savina): one actor sends numbers to another as fast as it can, and then asks for their
// sum. Shows the cost of sending to one mailbox while it is read.
//
// Size: numbers, 1 to size.

#include "program.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

namespace basal::bench {

namespace {

using ask = caf::atom_constant<caf::atom("ask")>;

struct counter_state {
  std::int64_t sum = 0;
};

caf::behavior counter(caf::stateful_actor<counter_state>* self, const caf::actor& observer) {
  return {
    [=](std::int64_t number) { self->state.sum += number; },
    [=](ask) {
      self->send(observer, self->state.sum);
      self->quit();
    },
  };
}

void source(caf::event_based_actor* self, const caf::actor& to, std::int64_t numbers) {
  for (std::int64_t number = 1; number <= numbers; ++number)
    self->send(to, number);
  self->send(to, ask::value);
}

} // namespace

extern constinit const program counting{
  .name = "counting",
  .size = 60'000,
  .quick_size = 15'000,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      system.spawn(source, system.spawn(counter, watching.handle()), size);
      return watching.sum_of_answers();
    },
  .expected = [](std::int64_t size) { return size * (size + 1) / 2; },
};

} // namespace basal::bench
