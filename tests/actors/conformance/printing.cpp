// Output of CAF by itself and through `aout`. The actors live one after the other, so that the
// printer gets their lines in one order; their ids are in the text.
#include "scenarios.hpp"

#include <caf/actor_ostream.hpp>
#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <stdexcept>
#include <string>

namespace conformance {

void printing(caf::actor_system& system, transcript&) {
  caf::scoped_actor self{system};
  self->wait_for(self->spawn([](caf::event_based_actor* me) {
    for (int i = 0; i < 3; ++i)
      caf::aout(me) << "line " << i << " of an event-based actor" << std::endl;
    caf::aout(me) << "one line "
                  << "in three "
                  << "pieces" << std::endl;
  }));
  caf::aout(self) << "a line of the scoped actor" << std::endl;
  auto thrower = self->spawn([](caf::event_based_actor*) -> caf::behavior {
    return {[](int) { throw std::runtime_error("printed by the default handler"); }};
  });
  self->send(thrower, std::string{"unexpected"});
  self->send(thrower, 1);
  self->wait_for(thrower);
}

} // namespace conformance
