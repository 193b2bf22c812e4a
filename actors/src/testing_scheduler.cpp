#include "testing_scheduler.hpp"

#include <basal/actors/detail/awaited_answer.hpp>
#include <basal/actors/detail/chooser_host.hpp>

namespace basal::actors {

testing_scheduler::testing_scheduler(caf::actor_system& system) : super(system) {
}

testing_scheduler::~testing_scheduler() = default;

void testing_scheduler::init(caf::actor_system_config& cfg) {
  super::init(cfg);
  configure(system(), cfg);
}

void testing_scheduler::start() {
  super::start();
  auto config = options_.compute;
  config.compute_executors = 1;
  config.pin = executors::pinning::none;
  config.simulate = {.stepped = true, .caller_runs = true};
  compute_ = std::make_unique<posse::runtime>(config);
  // Nobody runs there; choosers ask how busy it is.
  auto idle = config.pool();
  idle.name = "basal.msg";
  messages_ = std::make_unique<executors::executor_pool>(std::move(idle));
  messages_->run_until_idle();
  choosers_ = std::make_shared<detail::chooser_host>(system(), *messages_, *compute_,
                                                     options_.adaptive.knobs, false);
}

bool testing_scheduler::await_event(executors::completion& event) {
  while (!event.is_set()) {
    if (jobs.empty())
      return false;
    if (detail::awaited_answer::take_wake_up(jobs.front()))
      jobs.pop_front();
    else
      run_once();
  }
  return true;
}

void testing_scheduler::stop() {
  super::stop();
  compute_->cancel();
  compute_->stop(executors::stop_mode::discard);
  messages_->stop(executors::stop_mode::discard);
}

} // namespace basal::actors
