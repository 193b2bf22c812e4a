// The observer, on any free port.

#include <basal/actors/actor_system_config.hpp>
#include <basal/observer/server.hpp>

#include <caf/actor_system.hpp>

#include <cstdlib>
#include <iostream>

int main() {
  basal::actor_system_config config;
  caf::actor_system system{config};
  const basal::observer::server observer{system, {.listen = "127.0.0.1:0"}};
  std::cout << observer.url() << observer.problem() << '\n';
  return observer.url().starts_with("http://127.0.0.1:") ? EXIT_SUCCESS : EXIT_FAILURE;
}
