#include <basal/actors/detail/system_core.hpp>

#include "warning_watch.hpp"

#include <basal/actors/detail/keep_logger.hpp>
#include <basal/actors/detail/scheduler.hpp>
#include <basal/actors/detail/solver_sources.hpp>

#include <caf/actor_system.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include <stdexcept>
#include <string>
#include <typeinfo>

namespace basal::actors::detail {

system_core::system_core()
  : solvers_(std::make_shared<solver_sources>()), warnings_(std::make_unique<warning_watch>()) {
}

system_core::~system_core() = default;

system_core* system_core::of(caf::actor_system& system) noexcept {
  auto& found = system.scheduler();
  // get() asks at each call, and a dynamic_cast to a sibling takes some 50 ns, this 2.
  if (typeid(found) == typeid(scheduler))
    return static_cast<scheduler*>(&found);
  return dynamic_cast<system_core*>(&found);
}

system_core& system_core::of(caf::actor_system& system, const char* what) {
  if (auto* found = of(system))
    return *found;
  throw std::logic_error(std::string{what}
                         + ", but the actor system does not run on basal; make it from a "
                           "basal::actor_system_config instead of a caf::actor_system_config");
}

void system_core::configure(caf::actor_system& system, const caf::actor_system_config& cfg) {
  try {
    options_ = read_options(cfg);
    start_log(options_.log);
  } catch (const std::invalid_argument&) {
    keep_logger(system);
    throw;
  }
}

} // namespace basal::actors::detail
