#pragma once

#include <basal/actors/detail/system_core.hpp>

#include <caf/scheduler/test_coordinator.hpp>

namespace basal::actors {

/// CAF's deterministic scheduler, for `scheduler.policy = testing` and with it for CAF's
/// `test_coordinator_fixture`: a test runs actors one message at a time, on its own thread.
///
/// Nothing of basal has a thread there. Pure functions, offloaded functions and background tasks
/// run to their end on the thread that calls them, on a fiber of a compute executor that this
/// thread steps; adaptive handlers run where their message arrived, as on all threads that are no
/// message executors. So a test repeats exactly.
class testing_scheduler final : public caf::scheduler::test_coordinator,
                                public detail::system_core {
public:
  using super = caf::scheduler::test_coordinator;

  explicit testing_scheduler(caf::actor_system& system);
  ~testing_scheduler() override;

  /// @throws std::invalid_argument on options out of their range
  void init(caf::actor_system_config& cfg) override;

  /// Lets actors handle their messages until the event has happened.
  bool await_event(executors::completion& event) override;

protected:
  void start() override;
  void stop() override;
};

} // namespace basal::actors
