#include <basal/actors/backlogs.hpp>

#include <caf/resumable.hpp>
#include <caf/scheduled_actor.hpp>

#include <algorithm>

namespace basal::actors {

void backlog_log::add(caf::resumable* job) noexcept {
  const auto kind = job->subtype();
  if (kind != caf::resumable::scheduled_actor && kind != caf::resumable::io_actor)
    return;
  auto& actor = static_cast<caf::scheduled_actor&>(*job);
  // Orders what has come, as the actor's next turn would, and knows the number then.
  const auto messages = actor.mailbox().count();
  records_.change(actor.name(), [=](backlog_stats& record) {
    record.messages = messages;
    record.most = std::max<std::uint64_t>(record.most, messages);
    ++record.seen;
  });
}

} // namespace basal::actors
