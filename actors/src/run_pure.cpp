#include <basal/actors/run_pure.hpp>

#include <basal/actors/scheduler.hpp>

#include <caf/exit_reason.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/system_messages.hpp>

#include <stdexcept>
#include <tuple>

namespace basal::actors {

posse::runtime& runtime_of(caf::actor_system& system) {
  auto* found = scheduler::of(system);
  if (found == nullptr)
    throw std::logic_error("a pure function was called from an actor whose system does not run on "
                           "basal; make the system from a basal::actor_system_config instead of a "
                           "caf::actor_system_config");
  return found->compute();
}

// The mailbox belongs to whoever runs the actor. That is the computation as long as the handler
// waits for it, and of its members one at a time: see posse::interrupt_probe.
posse::interrupt_probe kill_probe(caf::scheduled_actor* self) noexcept {
  auto asks_to_end = [](void* context) noexcept {
    using actor = caf::scheduled_actor;
    auto& mailbox = static_cast<actor*>(context)->mailbox();
    mailbox.fetch_more();
    bool killed = false;
    auto look = [&](const caf::mailbox_element& x) {
      const auto& content = x.content();
      killed = killed
               || (content.match_elements<caf::exit_msg>()
                   && content.get_as<caf::exit_msg>(0).reason == caf::exit_reason::kill);
    };
    auto& queues = mailbox.queue().queues();
    std::get<actor::urgent_queue_index>(queues).peek_all(look);
    std::get<actor::normal_queue_index>(queues).peek_all(look);
    return killed;
  };
  return {asks_to_end, self};
}

} // namespace basal::actors
