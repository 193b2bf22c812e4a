#pragma once

#include <basal/actors/backlogs.hpp>
#include <basal/actors/options.hpp>
#include <basal/actors/overruns.hpp>
#include <basal/executors/completion.hpp>
#include <basal/executors/detail/assert.hpp>
#include <basal/executors/executor_pool.hpp>
#include <basal/posse/runtime.hpp>

#include <caf/fwd.hpp>

#include <atomic>
#include <memory>

namespace basal::actors {

class warning_watch;

}

namespace basal::actors::detail {

class chooser_host;
class solver_sources;

/// The parts of basal that an actor system has, whoever drives its actors:
/// `actors::scheduler`, or CAF's deterministic scheduler for tests.
class system_core {
public:
  /// The core of `system`, or null if it does not run on basal. Any thread.
  static system_core* of(caf::actor_system& system) noexcept;

  /// The core of `system`. @param what begins the sentence of the error: the thing asked of it
  /// @throws std::logic_error if it does not run on basal
  static system_core& of(caf::actor_system& system, const char* what);

  system_core(const system_core&) = delete;
  system_core& operator=(const system_core&) = delete;

  /// The runtime that runs computations. Valid from `start` on.
  posse::runtime& compute() noexcept {
    BASAL_ASSERT(compute_ != nullptr, "an actor system computes after its start");
    return *compute_;
  }

  /// The executors that run actors. Valid from `start` on.
  executors::executor_pool& messages() noexcept {
    BASAL_ASSERT(messages_ != nullptr, "an actor system runs actors after its start");
    return *messages_;
  }

  /// Handlers that outran their quantum.
  const overrun_log& overruns() const noexcept {
    return overruns_;
  }

  /// Actors that had messages left when their turn was over.
  const backlog_log& backlogs() const noexcept {
    return backlogs_;
  }

  /// The solvers that have told of themselves.
  const std::shared_ptr<solver_sources>& solvers() const noexcept {
    return solvers_;
  }

  /// The watch that judges the statistics and keeps the raised warnings.
  warning_watch& warnings() noexcept {
    return *warnings_;
  }

  /// The host that all adaptive handlers share. Valid from `start` on.
  const std::shared_ptr<chooser_host>& choosers() noexcept {
    return choosers_;
  }

  /// Waits for what a handler on an executor waits for; runs other actors where a test drives them.
  /// @returns false if the event has not happened, and no actor has anything left to do
  virtual bool await_event(executors::completion& event) {
    event.wait();
    return true;
  }

  /// Handlers that wait for other actors end to do so, for good. Any thread.
  void end_waits() noexcept {
    // Relaxed, as for its reader: the locks of the wait graph order them.
    ends_waits_.store(true, std::memory_order_relaxed);
  }

  bool ends_waits() const noexcept {
    return ends_waits_.load(std::memory_order_relaxed);
  }

protected:
  system_core();
  ~system_core();

  /// Reads the options, in the constructor of an actor system.
  /// @throws std::invalid_argument as read_options(); the actor system may be destroyed then,
  ///         although CAF's destructor of its logger needs more of it than there is left
  void configure(caf::actor_system& system, const caf::actor_system_config& cfg);

  scheduler_options options_;
  overrun_log overruns_;
  backlog_log backlogs_;

  // The compute executors ask the message executors for work until they are stopped, so they are
  // destroyed first.
  std::unique_ptr<executors::executor_pool> messages_;
  std::unique_ptr<posse::runtime> compute_;
  std::shared_ptr<chooser_host> choosers_; // actors may outlive us

private:
  std::atomic<bool> ends_waits_{false};
  const std::shared_ptr<solver_sources> solvers_; // a solver may outlive us
  const std::unique_ptr<warning_watch> warnings_;
};

} // namespace basal::actors::detail
