// The smallest program with BASAL_MAIN.
#include <basal/actors/actors.hpp>

#include <caf/io/middleman.hpp>

#include <iostream>

void caf_main(caf::actor_system& system) {
  std::cout << basal::actors::scheduler::of(system)->messages().size() << " message executors\n";
}

BASAL_MAIN(caf::io::middleman)
