// An actor that answers. basal runs CAF actors; one type differs from a program on CAF's scheduler.
#include <basal/actors/actors.hpp>

#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <iostream>
#include <string>

caf::behavior greeter() {
  return {[](const std::string& name) { return "hello, " + name; }};
}

int main() {
  basal::actor_system_config config; // instead of caf::actor_system_config
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  const auto actor = system.spawn(greeter);
  self->request(actor, caf::infinite, std::string{"world"})
    .receive([](const std::string& answer) { std::cout << answer << '\n'; },
             [&](const caf::error& e) { std::cerr << system.render(e) << '\n'; });
}
