// Stopping in time: an actor that nobody ends would keep the program from ending.
#include <basal/actors/actors.hpp>

#include <caf/event_based_actor.hpp>

#include <chrono>
#include <iostream>

using namespace std::chrono_literals;

caf::behavior endless() {
  return {[](int) {}};
}

int main() {
  basal::actor_system_config config;
  // A handler that has not returned so long after the stop ends the program, with a sentence.
  config.set("basal.stop-deadline", caf::timespan{30s});
  caf::actor_system system{config};
  const auto kept_alive = system.spawn(endless);
  if (const auto who = basal::actors::await_all_actors_done(system, 100ms)) {
    std::cout << who->running << " actor has not ended\n";
    system.await_actors_before_shutdown(false); // else the destructor waits for it without end
  }
}
