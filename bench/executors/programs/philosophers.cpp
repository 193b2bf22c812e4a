// dining philosophers (Savina): 20 philosophers ask a waiter for their two forks, are refused while
// a neighbour has one of them, and then ask again at once. Many messages get nothing done.
//
// Size: meals of each philosopher.

#include "program.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

#include <array>
#include <memory>

namespace basal::bench {

namespace {

using hungry = caf::atom_constant<caf::atom("hungry")>;
using refused = caf::atom_constant<caf::atom("refused")>;
using eat = caf::atom_constant<caf::atom("eat")>;
using eaten = caf::atom_constant<caf::atom("eaten")>;
using finish = caf::atom_constant<caf::atom("finish")>;

constexpr std::size_t num_philosophers = 20;

caf::behavior philosopher(caf::event_based_actor* self, std::size_t seat, const caf::actor& waiter,
                          std::int64_t meals) {
  self->send(waiter, hungry::value, seat);
  return {
    [=](refused) { self->send(waiter, hungry::value, seat); },
    [=, left = meals](eat) mutable {
      self->send(waiter, eaten::value, seat);
      if (--left > 0) {
        self->send(waiter, hungry::value, seat);
        return;
      }
      self->send(waiter, finish::value);
      self->quit();
    },
  };
}

caf::behavior waiter(caf::event_based_actor* self, const caf::actor& observer) {
  struct table {
    std::array<bool, num_philosophers> taken{}; // the fork at the right of each seat
    std::int64_t meals = 0;
    std::size_t guests = num_philosophers;
  };
  const auto mine = std::make_shared<table>();
  const auto left_of = [](std::size_t seat) { return (seat + 1) % num_philosophers; };
  return {
    [=](hungry, std::size_t seat) {
      auto& right = mine->taken[seat];
      auto& left = mine->taken[left_of(seat)];
      if (right || left)
        return caf::make_message(refused::value);
      right = true;
      left = true;
      return caf::make_message(eat::value);
    },
    [=](eaten, std::size_t seat) {
      mine->taken[seat] = false;
      mine->taken[left_of(seat)] = false;
      ++mine->meals;
    },
    [=](finish) {
      if (--mine->guests > 0)
        return;
      self->send(observer, mine->meals);
      self->quit();
    },
  };
}

} // namespace

extern constinit const program philosophers{
  .name = "philosophers",
  .size = 600,
  .quick_size = 150,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      const auto table = system.spawn(waiter, watching.handle());
      for (std::size_t seat = 0; seat < num_philosophers; ++seat)
        system.spawn(philosopher, seat, table, size);
      return watching.sum_of_answers();
    },
  .expected = [](std::int64_t size) { return static_cast<std::int64_t>(num_philosophers) * size; },
};

} // namespace basal::bench
