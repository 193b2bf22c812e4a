#include "run.hpp"

#include <basal/actors/actor_system_config.hpp>

int main(int argc, char** argv) {
  return conformance::run<basal::actor_system_config>(argc, argv);
}
