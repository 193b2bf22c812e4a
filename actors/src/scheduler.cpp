#include <basal/actors/scheduler.hpp>

#include "release_unrun.hpp"

#include <basal/actors/options.hpp>
#include <basal/executors/executor.hpp>
#include <basal/posse/effects.hpp>

#include <caf/actor_system.hpp>
#include <caf/execution_unit.hpp>
#include <caf/logger.hpp>
#include <caf/resumable.hpp>

#include <exception>
#include <iostream>
#include <stdexcept>

namespace basal::actors {

/// CAF's name for a message executor. Actors keep a pointer to the one that ran them last and may
/// use it from another thread, so it asks for the thread it is on.
class scheduler::unit final : public caf::execution_unit {
public:
  explicit unit(scheduler& owner) : execution_unit(&owner.system()), owner_(owner) {
  }

  void exec_later(caf::resumable* job) override {
    owner_.enqueue(job);
  }

  std::size_t max_throughput() const noexcept {
    return owner_.max_throughput();
  }

private:
  scheduler& owner_;
};

const executors::work_ops scheduler::job_ops{
  &scheduler::run,
  [](void* job) noexcept { release_unrun(static_cast<caf::resumable*>(job)); },
};

namespace {

// A constructor of caf::actor_system that throws locks a mutex that is already destroyed (0.17.6).
[[noreturn]] void give_up(const std::exception& problem) {
  std::cerr << "basal: cannot start the actor system: " << problem.what() << std::endl;
  std::terminate();
}

} // namespace

scheduler::scheduler(caf::actor_system& system) : super(system) {
}

scheduler::~scheduler() = default;

scheduler* scheduler::of(caf::actor_system& system) noexcept {
  return dynamic_cast<scheduler*>(&system.scheduler());
}

caf::actor_system::module* scheduler::make(caf::actor_system& system, caf::detail::type_list<>) {
  return new scheduler(system);
}

void scheduler::init(caf::actor_system_config& cfg) {
  try {
    const auto options = read_options(cfg);
    max_throughput_ = options.max_throughput;
    num_workers_ = options.message_executors;
    compute_config_.compute_executors = options.compute_executors;
    compute_config_.quantum = options.quantum;
    compute_config_.stack_bytes = options.stack_bytes;
  } catch (const std::invalid_argument& invalid) {
    give_up(invalid);
  }
}

void scheduler::start() {
  try {
    start_executors();
    clock_.start(system());
  } catch (const std::exception& problem) { // std::system_error, std::bad_alloc
    give_up(problem);
  }
  super::start();
}

void scheduler::start_executors() {
  for (std::size_t i = 0; i < num_workers(); ++i)
    units_.push_back(std::make_unique<unit>(*this));
  executors::pool_config config;
  config.name = "basal.msg";
  config.executors = num_workers();
  config.stack_bytes = compute_config_.stack_bytes;
  config.turn = compute_config_.quantum;
  config.newest_ops = &job_ops; // an actor that was just sent to runs next
  config.hooks.context = this;
  config.hooks.thread_starts = [](void* context, executors::executor& self) noexcept {
    auto& owner = *static_cast<scheduler*>(context);
    self.attachment() = owner.units_[self.index()].get();
    CAF_SET_LOGGER_SYS(&owner.system());
    owner.system().thread_started();
  };
  config.hooks.thread_stops = [](void* context, executors::executor&) noexcept {
    static_cast<scheduler*>(context)->system().thread_terminates();
  };
  compute_ = std::make_unique<posse::runtime>(compute_config_);
  messages_ = std::make_unique<executors::executor_pool>(std::move(config));
  compute_->attach(*messages_);
}

void scheduler::stop() {
  stop_actors();
  clock_.stop();
  compute_->cancel();
  messages_->stop(executors::stop_mode::discard);
  compute_->stop(executors::stop_mode::discard);
}

void scheduler::enqueue(caf::resumable* job) {
  // Whom a message wakes comes here, and whom a handler spawns. What is sent to actors that are
  // awake already does not.
  posse::assert_no_effect("sends a message or spawns an actor");
  if (!messages_->submit({job, &job_ops}))
    release_unrun(job);
}

void scheduler::run(void* object, executors::executor& self) noexcept {
  auto* job = static_cast<caf::resumable*>(object);
  auto& here = *static_cast<unit*>(self.attachment());
  switch (job->resume(&here, here.max_throughput())) {
  case caf::resumable::resume_later:
    self.push_back({job, &job_ops});
    break;
  case caf::resumable::done:
  case caf::resumable::awaiting_message:
    caf::intrusive_ptr_release(job);
    break;
  case caf::resumable::shutdown_execution_unit:
    break;
  }
}

} // namespace basal::actors
