// Options: by the program, and by those who start it.
#include <basal/actors/actors.hpp>

#include <cstdlib>
#include <exception>
#include <iostream>

int main(int argc, char** argv) {
  basal::actor_system_config config;
  config.set("basal.compute-executors", 2); // the default of this program
  try {
    basal::actor_system_config{}.set("basal.quantum", "a while");
  } catch (const std::exception& refused) {
    std::cout << refused.what() << '\n';
  }
  // The file caf-application.ini, the environment (BASAL_COMPUTE_EXECUTORS=3) and the command line
  // (--basal.compute-executors=3) come after the program's own, each before the next.
  if (const auto error = config.parse(argc, argv)) {
    std::cerr << caf::actor_system_config::render(error) << '\n';
    return EXIT_FAILURE;
  }
  caf::actor_system system{config};
  std::cout << basal::actors::stats_of(system).compute_executors.size() << " compute executors\n";
}
