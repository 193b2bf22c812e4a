#include <basal/actors/backlogs.hpp>

#include <caf/resumable.hpp>
#include <caf/scheduled_actor.hpp>

#include <algorithm>
#include <new>
#include <string_view>

namespace basal::actors {

void backlog_log::add(caf::resumable* job) noexcept {
  const auto kind = job->subtype();
  if (kind != caf::resumable::scheduled_actor && kind != caf::resumable::io_actor)
    return;
  auto& actor = static_cast<caf::scheduled_actor&>(*job);
  // Orders what has come, as the actor's next turn would, and knows the number then.
  const auto messages = actor.mailbox().count();
  try {
    std::string_view name = actor.name();
    std::lock_guard guard{mutex_};
    auto found = by_name_.find(name);
    if (found == by_name_.end()) {
      if (by_name_.size() >= max_names)
        name = other_names;
      found = by_name_.try_emplace(std::string{name}).first;
      found->second.name = name;
    }
    auto& record = found->second;
    record.messages = messages;
    record.most = std::max<std::uint64_t>(record.most, messages);
    ++record.seen;
  } catch (const std::bad_alloc&) {
    // not counted
  }
}

std::vector<backlog_stats> backlog_log::snapshot() const {
  std::lock_guard guard{mutex_};
  std::vector<backlog_stats> result;
  for (const auto& [name, record] : by_name_)
    result.push_back(record);
  return result;
}

} // namespace basal::actors
