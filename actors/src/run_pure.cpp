#include <basal/actors/run_pure.hpp>

#include <basal/actors/detail/system_core.hpp>
#include <basal/posse/errors.hpp>

#include <caf/error.hpp>
#include <caf/exit_reason.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/system_messages.hpp>

#include <exception>
#include <new>
#include <tuple>
#include <utility>

namespace basal::actors {

namespace {

/// Gives access to what CAF keeps for derived actors.
struct killed_actor : caf::scheduled_actor {
  /// From now on the `cancelled` by which a killed computation ends is no error of `self`: nothing
  /// is printed, and the actor ends with exit_reason::kill, as one that is killed between two
  /// messages does. Other exceptions go to the handler that the actor has.
  static void expect_cancelled(caf::scheduled_actor& self) {
    auto& handler = self.*&killed_actor::exception_handler_;
    handler = [other = std::move(handler)](caf::scheduled_actor* actor, std::exception_ptr& what) {
      try {
        std::rethrow_exception(what);
      } catch (const posse::cancelled& end) {
        if (end.reason() == posse::cancel_reason::owner_killed)
          return caf::make_error(caf::exit_reason::kill);
      } catch (...) {
        // for the actor's own handler
      }
      return other(actor, what);
    };
  }
};

} // namespace

posse::runtime& runtime_of(caf::actor_system& system) {
  return detail::system_core::of(system, "a pure function was called from an actor").compute();
}

// The mailbox belongs to whoever runs the actor. That is the computation as long as the handler
// waits for it, and of its members one at a time: see posse::interrupt_probe. So does the actor's
// exception handler: it is not read before the handler goes on, which is after all members.
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
    if (!killed)
      return false;
    try {
      killed_actor::expect_cancelled(*static_cast<actor*>(context));
    } catch (const std::bad_alloc&) {
      // then it ends with a runtime_error
    }
    return true;
  };
  return {asks_to_end, self};
}

} // namespace basal::actors
