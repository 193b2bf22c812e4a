// chameneos (Kaiser and Pradat-Peyre; Savina): 100 creatures ask a mall for a partner, two at a
// time meet and change colour. One actor is everybody's bottleneck, and all others wait for it.
//
// Size: meetings. At the end each creature tells in how many it took part: two per meeting.

#include "program.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

namespace basal::bench {

namespace {

using ask = caf::atom_constant<caf::atom("ask")>;
using meet = caf::atom_constant<caf::atom("meet")>;
using fade = caf::atom_constant<caf::atom("fade")>;

constexpr std::int64_t num_creatures = 100;

// Colours are 0, 1, 2: two of a colour keep it, others both take the third.
std::int32_t mixed(std::int32_t mine, std::int32_t other) {
  return mine == other ? mine : 3 - mine - other;
}

struct creature_state {
  std::int32_t colour = 0;
  std::int64_t meetings = 0;
};

caf::behavior creature(caf::stateful_actor<creature_state>* self, const caf::actor& mall,
                       std::int32_t colour) {
  self->state.colour = colour;
  self->send(mall, ask::value, colour);
  return {
    [=](meet, std::int32_t other) {
      auto& me = self->state;
      ++me.meetings;
      me.colour = mixed(me.colour, other);
      self->send(mall, ask::value, me.colour);
    },
    [=](fade) {
      self->send(mall, fade::value, self->state.meetings);
      self->quit();
    },
  };
}

struct mall_state {
  std::int64_t meetings_left = 0;
  // Not first: CAF 0.17.6 passes the actor's own pointer to a state that can be made from it, which
  // in C++20 an aggregate can whose first member is an actor.
  caf::actor waiting; // for a partner
  std::int32_t colour = 0;
  std::int64_t faded = 0;
  std::int64_t sum = 0; // of what they said when they faded
};

caf::behavior mall(caf::stateful_actor<mall_state>* self, std::int64_t meetings,
                   const caf::actor& observer) {
  self->state.meetings_left = meetings;
  return {
    [=](ask, std::int32_t colour) {
      auto& mine = self->state;
      auto guest = caf::actor_cast<caf::actor>(self->current_sender());
      if (mine.meetings_left == 0) {
        self->send(guest, fade::value);
      } else if (!mine.waiting) {
        mine.waiting = std::move(guest);
        mine.colour = colour;
      } else {
        self->send(guest, meet::value, mine.colour);
        self->send(mine.waiting, meet::value, colour);
        mine.waiting = nullptr;
        --mine.meetings_left;
      }
    },
    [=](fade, std::int64_t meetings_of_one) {
      auto& mine = self->state;
      mine.sum += meetings_of_one;
      if (++mine.faded == num_creatures) {
        self->send(observer, mine.sum);
        self->quit();
      }
    },
  };
}

} // namespace

extern constinit const program chameneos{
  .name = "chameneos",
  .size = 15'000,
  .quick_size = 3'000,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      const auto place = system.spawn(mall, size, watching.handle());
      for (std::int64_t i = 0; i < num_creatures; ++i)
        system.spawn(creature, place, static_cast<std::int32_t>(i % 3));
      return watching.sum_of_answers();
    },
  .expected = [](std::int64_t size) { return 2 * size; },
};

} // namespace basal::bench
