#include "arrivals.hpp"

#include <caf/resumable.hpp>

#include <tuple>

namespace basal::actors {

namespace {

using actor = caf::scheduled_actor;
using mailbox_type = actor::mailbox_type;
using inbox_type = caf::intrusive::lifo_inbox<actor::mailbox_policy>;

/// To name a private member is allowed in an explicit instantiation.
template <inbox_type mailbox_type::*Member>
struct opens_mailbox {
  friend inbox_type& opened(mailbox_type& mailbox) noexcept {
    return mailbox.*Member;
  }
};
inbox_type& opened(mailbox_type& mailbox) noexcept;
template struct opens_mailbox<&mailbox_type::inbox_>;

} // namespace

inbox_type& arrivals(mailbox_type& mailbox) noexcept {
  return opened(mailbox);
}

bool has_message(caf::resumable& job) noexcept {
  const auto kind = job.subtype();
  if (kind != caf::resumable::scheduled_actor && kind != caf::resumable::io_actor)
    return false;
  auto& mailbox = static_cast<actor&>(job).mailbox();
  const auto& inbox = arrivals(mailbox);
  if (inbox.closed() || inbox.blocked()) // it ends
    return false;
  const auto& queues = mailbox.queue().queues();
  if (!std::get<actor::urgent_queue_index>(queues).empty()
      || !std::get<actor::normal_queue_index>(queues).empty())
    return true;
  return !inbox.empty();
}

} // namespace basal::actors
