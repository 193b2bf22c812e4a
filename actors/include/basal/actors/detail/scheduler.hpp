#pragma once

#include <basal/actors/detail/chooser_host.hpp>
#include <basal/actors/detail/clock.hpp>
#include <basal/actors/detail/system_core.hpp>
#include <basal/executors/detail/assert.hpp>
#include <basal/executors/executor_pool.hpp>

#include <caf/fwd.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

namespace basal::actors {

class actor_watch;
class logged_aout;

/// CAF's scheduler module on basal: actors run on the message executors, work that pure
/// functions give away on the compute executors. `basal::actor_system_config` loads it.
///
/// References. `enqueue` and `exec_later` own one reference to the resumable that they are given;
/// it travels in the run queue. `resume` answers `resume_later`: it goes on travelling; `done` or
/// `awaiting_message`: it is released; `shutdown_execution_unit`: it was CAF's own.
///
/// A handler may suspend its fiber inside `resume`. To CAF it looks like one that still runs: its
/// mailbox is not blocked, so nobody schedules it twice.
///
/// `stop`, called by CAF's destructor of the actor system, in this order:
/// 1. the printer behind `aout`, which prints what it has;
/// 2. the clock: nothing new comes from there, and what it holds is dropped;
/// 3. computations are cancelled, and so are waits for answers, so that handlers in them go on and
///    end;
/// 4. the message executors: queued actors are ended with `caf::exit_reason::user_shutdown`,
///    handlers that have begun end;
/// 5. the compute executors.
/// Actors that are enqueued later, by detached actors, are ended at once.
class scheduler final : public caf::scheduler::abstract_coordinator, public detail::system_core {
public:
  using super = caf::scheduler::abstract_coordinator;

  explicit scheduler(caf::actor_system& system);
  ~scheduler() override;

  /// The scheduler of `system`, or null if it does not run on basal, or with
  /// `scheduler.policy = testing`. Any thread.
  static scheduler* of(caf::actor_system& system) noexcept;

  /// Owns one reference to `job`: on a message executor it runs there next, from elsewhere it goes
  /// to the injection queue. Any thread.
  void enqueue(caf::resumable* job) override;

  actors::clock& clock() noexcept override {
    return clock_;
  }

  /// Counts of actors while somebody watches. Valid from `start` on.
  actor_watch& watch() noexcept {
    BASAL_ASSERT(watch_ != nullptr, "an actor system is watched after its start");
    return *watch_;
  }

  // -- called by the actor system ---------------------------------------------

  /// This scheduler; or, with `scheduler.policy = testing`, CAF's deterministic one with what
  /// basal's functions need beside it.
  static caf::actor_system::module* make(caf::actor_system& system, caf::detail::type_list<>);

  /// @throws std::invalid_argument on options out of their range, which `parse` and `set` of
  ///         `basal::actor_system_config` have reported before
  void init(caf::actor_system_config& cfg) override;

  /// Terminates the program with a sentence when the kernel refuses a thread or a stack.
  void start() override;

  void stop() override;

private:
  class unit;

  void start_executors();
  bool messages_wait_for_computations() const noexcept;
  void log_start() const;
  template <class Executors>
  void stop_in_time(Executors& all);

  void queue(caf::resumable* job, bool timed);
  static void run(void* job, executors::executor& self) noexcept;
  static void run_watched(caf::resumable& job, executors::executor& self, unit& here) noexcept;

  template <class Count>
  static std::uint64_t take_turn(caf::resumable* job, executors::executor& self, unit& here,
                                 Count&& count) noexcept;
  static std::uint64_t take_uncounted_turn(caf::resumable& job, executors::executor& self,
                                           unit& here) noexcept;

  static const executors::work_ops job_ops;

  /// Written by whoever enqueues the first job; read by all that enqueue. Relaxed: who misses it
  /// only asks what the job is.
  std::atomic<bool> has_had_jobs_{false};

  actors::clock clock_;
  std::unique_ptr<actor_watch> watch_;
  std::unique_ptr<logged_aout> aout_;        // null without basal.log-aout
  std::vector<std::unique_ptr<unit>> units_; // one for each message executor
};

} // namespace basal::actors
