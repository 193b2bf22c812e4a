// A program that a browser can look at. It listens where BASAL_OBSERVER or --basal.observer says,
// or the configuration, as here: port 0 is any that is free.
#include <basal/actors/actors.hpp>
#include <basal/observer/server.hpp>
#include <basal/solver_service/show_solver.hpp>

#include <iostream>
#include <string>

int main() {
  basal::actor_system_config config;
  config.set("basal.observer", std::string{"127.0.0.1:0"});
  caf::actor_system system{config};
  const basal::observer::server observer{system}; // logs the address, with a token

  // Its solver, too, which has no service that would show it.
  basal::solver::batch_solver solver{basal::actors::runtime_of(system).compute()};
  const auto shown = basal::actors::show_solver(system, solver);

  if (!observer.problem().empty()) { // such as a port in use: the program goes on
    std::cerr << observer.problem() << '\n';
    return 1;
  }
  std::cout << "a browser may look\n";
}
