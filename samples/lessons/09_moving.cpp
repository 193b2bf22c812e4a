// Moving a CAF program. This one began with CAF_MAIN(); BASAL_MAIN() is all that has changed, and
// options such as --basal.quantum=500us work on its command line.
#include <basal/actors/actors.hpp>

#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <iostream>

using caf::actor_system;
using caf::behavior;
using caf::event_based_actor;

behavior player(event_based_actor* self) {
  return {[=](int ball) {
    if (ball > 0)
      self->send(caf::actor_cast<caf::actor>(self->current_sender()), ball - 1);
    if (ball <= 1)
      self->quit();
  }};
}

void caf_main(actor_system& system) {
  const auto ping = system.spawn(player);
  const auto pong = system.spawn(player);
  caf::scoped_actor self{system};
  caf::send_as(ping, pong, 1'000);
  self->wait_for(ping, pong);
  std::cout << "the ball went to and fro\n";
}

BASAL_MAIN()
