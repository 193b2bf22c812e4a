#include "release_unrun.hpp"

#include <caf/execution_unit.hpp>
#include <caf/exit_reason.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduled_actor.hpp>

#include <vector>

namespace basal::actors {

namespace {

// CAF's own cleanup_and_release() leaks what the clean-up schedules; this keeps it for its turn.
class collecting_unit final : public caf::execution_unit {
public:
  explicit collecting_unit(caf::actor_system& system) : execution_unit(&system) {
  }

  void exec_later(caf::resumable* job) override {
    jobs.push_back(job);
  }

  std::vector<caf::resumable*> jobs;
};

bool is_actor(const caf::resumable& job) {
  const auto subtype = job.subtype();
  return subtype == caf::resumable::scheduled_actor || subtype == caf::resumable::io_actor;
}

void end_actor(caf::scheduled_actor& actor, collecting_unit& unit) {
  // Stateful actors destroy their state in on_exit, and once cleaned up nobody
  // calls that any more.
  if (!actor.getf(caf::abstract_actor::is_cleaned_up_flag))
    actor.on_exit();
  actor.cleanup(caf::make_error(caf::exit_reason::user_shutdown), &unit);
}

} // namespace

void release_unrun(caf::resumable* job) noexcept {
  if (!is_actor(*job)) {
    caf::intrusive_ptr_release(job);
    return;
  }
  collecting_unit unit{static_cast<caf::scheduled_actor*>(job)->home_system()};
  unit.jobs.push_back(job);
  while (!unit.jobs.empty()) {
    auto* next = unit.jobs.back();
    unit.jobs.pop_back();
    if (is_actor(*next))
      end_actor(*static_cast<caf::scheduled_actor*>(next), unit);
    caf::intrusive_ptr_release(next);
  }
}

} // namespace basal::actors
