#pragma once

#include <caf/fwd.hpp>
#include <caf/intrusive/lifo_inbox.hpp>
#include <caf/scheduled_actor.hpp>

namespace basal::actors {

/// The part of an actor's mailbox into which senders push: fifo_inbox, whose member this is, shows
/// it only to those who have handled all that came before. Only for the mailbox's reader.
caf::intrusive::lifo_inbox<caf::scheduled_actor::mailbox_policy>&
arrivals(caf::scheduled_actor::mailbox_type& mailbox) noexcept;

/// Whether messages wait in the mailbox of `job` besides the one that it handles; no for one that
/// is no actor, or ends. Batches of streams do not count, as their queues cannot be asked while
/// their own handlers run. Only on the executor that runs it.
bool has_message(caf::resumable& job) noexcept;

} // namespace basal::actors
