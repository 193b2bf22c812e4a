#include <basal/actors/run_pure.hpp>

#include <basal/actors/scheduler.hpp>

#include <stdexcept>

namespace basal::actors {

posse::runtime& runtime_of(caf::actor_system& system) {
  auto* found = scheduler::of(system);
  if (found == nullptr)
    throw std::logic_error("a pure function was called from an actor whose system does not run on "
                           "basal; make the system from a basal::actor_system_config instead of a "
                           "caf::actor_system_config");
  return found->compute();
}

} // namespace basal::actors
