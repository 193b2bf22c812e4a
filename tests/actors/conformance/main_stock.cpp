#include "run.hpp"

int main(int argc, char** argv) {
  return conformance::run<caf::actor_system_config>(argc, argv);
}
