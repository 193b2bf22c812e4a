// sleeping barber (Savina): customers, each an actor, enter a waiting room with 100 chairs. Whoever
// finds all taken comes back at once. The barber, asleep while the room is empty, cuts one
// customer's hair after the other, which takes 1 us, and calls for the next.
//
// How often customers come back depends on the order in which a scheduler runs them: where each has
// a turn before the barber's call is read, a haircut takes as long as a message of each.
//
// Size: customers.

#include "program.hpp"
#include "work.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <deque>

namespace basal::bench {

namespace {

using enter = caf::atom_constant<caf::atom("enter")>;
using full = caf::atom_constant<caf::atom("full")>;
using sit = caf::atom_constant<caf::atom("sit")>;
using next = caf::atom_constant<caf::atom("next")>;
using ready = caf::atom_constant<caf::atom("ready")>;

constexpr std::size_t num_chairs = 100;
constexpr int steps = 400;

caf::behavior customer(caf::event_based_actor* self, const caf::actor& room,
                       const caf::actor& register_of_visits) {
  self->send(room, enter::value);
  return {
    [=](full) { self->send(room, enter::value); },
    [=](ready, std::int64_t haircut) {
      self->send(register_of_visits, haircut);
      self->quit();
    },
  };
}

caf::behavior barber(caf::event_based_actor* self) {
  return {[=, number = std::int64_t{0}](sit, const caf::actor& guest) mutable {
    self->send(guest, ready::value, computed(++number, steps));
    return next::value;
  }};
}

struct room_state {
  std::deque<caf::actor> seated;
  bool asleep = true; // the barber
};

caf::behavior room(caf::stateful_actor<room_state>* self) {
  auto cutter = self->spawn(barber);
  return {
    [=](enter) {
      auto& mine = self->state;
      auto guest = caf::actor_cast<caf::actor>(self->current_sender());
      if (mine.asleep) {
        mine.asleep = false;
        self->send(cutter, sit::value, guest);
      } else if (mine.seated.size() < num_chairs) {
        mine.seated.push_back(std::move(guest));
      } else {
        self->send(guest, full::value);
      }
    },
    [=](next) {
      auto& mine = self->state;
      mine.asleep = mine.seated.empty();
      if (mine.asleep)
        return;
      self->send(cutter, sit::value, mine.seated.front());
      mine.seated.pop_front();
    },
  };
}

caf::behavior visits(caf::event_based_actor* self, std::int64_t customers,
                     const caf::actor& observer) {
  return {[=, sum = std::int64_t{0}, left = customers](std::int64_t haircut) mutable {
    sum += haircut;
    if (--left == 0) {
      self->send(observer, sum);
      self->quit();
    }
  }};
}

void street(caf::event_based_actor* self, std::int64_t customers, const caf::actor& observer) {
  const auto shop = self->spawn(room);
  const auto counting = self->spawn(visits, customers, observer);
  for (std::int64_t i = 0; i < customers; ++i)
    self->spawn(customer, shop, counting);
}

} // namespace

extern constinit const program barber_shop{
  .name = "barber_shop",
  .size = 600,
  .quick_size = 300,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      system.spawn(street, size, watching.handle());
      return watching.sum_of_answers();
    },
  .expected =
    [](std::int64_t size) {
      std::int64_t sum = 0;
      for (std::int64_t number = 1; number <= size; ++number)
        sum += computed(number, steps);
      return sum;
    },
};

} // namespace basal::bench
