#include "solving_pool.hpp"

#ifdef SAMPLES_OBSERVE
#  include <basal/actors/actor_system_config.hpp>
#  include <basal/actors/run_pure.hpp>
#  include <basal/solver_service/show_solver.hpp>

#  include <caf/actor_system.hpp>

#  include <spdlog/spdlog.h>

#  include "common/observe.hpp"
#endif

namespace solve {

#ifdef SAMPLES_OBSERVE
struct solving_pool::observed {
  struct settings : basal::actor_system_config {
    settings(std::size_t executors, const std::string& address) {
      set("basal.message-executors", 1);
      set("basal.compute-executors", executors);
      set("basal.observer", address);
    }
  };

  observed(std::size_t executors, const std::string& address) : config(executors, address) {
  }

  settings config;
  caf::actor_system system{config};
  samples::observer shown{system};
};
#else
struct solving_pool::observed {};
#endif

solving_pool::solving_pool(std::size_t executors, [[maybe_unused]] const std::string& observe) {
#ifdef SAMPLES_OBSERVE
  if (!observe.empty()) {
    spdlog::set_pattern("%n: %v"); // logger and text, as before there is an actor system
    observed_ = std::make_unique<observed>(executors, observe);
    return;
  }
#endif
  basal::executors::pool_config config;
  config.name = "solve";
  config.executors = executors;
  own_ = std::make_unique<basal::executors::executor_pool>(config);
}

solving_pool::~solving_pool() = default;

basal::executors::executor_pool& solving_pool::executors() noexcept {
#ifdef SAMPLES_OBSERVE
  if (observed_ != nullptr)
    return basal::actors::runtime_of(observed_->system).compute();
#endif
  return *own_;
}

std::shared_ptr<void>
solving_pool::show([[maybe_unused]] const basal::solver::batch_solver& solver) {
#ifdef SAMPLES_OBSERVE
  if (observed_ != nullptr)
    return std::make_shared<basal::actors::solver_source>(
      basal::actors::show_solver(observed_->system, solver));
#endif
  return nullptr;
}

} // namespace solve
