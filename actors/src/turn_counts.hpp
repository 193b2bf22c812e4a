#pragma once

#include <basal/executors/executor.hpp>

#include <caf/mailbox_element.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduled_actor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <typeinfo>

namespace basal::actors {

/// Tells apart what handles the next message: the same for actors whose handlers were made of the
/// same lambdas or functions, and messages of the same types; null for an actor that has no
/// handlers yet, and where there is no message. Only on the executor that is about to resume `job`.
inline const void* handler_kind(caf::resumable& job) noexcept {
  if (job.subtype() != caf::resumable::scheduled_actor)
    return nullptr;
  auto& actor = static_cast<caf::scheduled_actor&>(job);
  if (!actor.has_behavior())
    return nullptr;
  const auto* handlers = actor.current_behavior().as_behavior_impl().get();
  const auto* message = actor.peek_at_next_mailbox_element();
  if (handlers == nullptr || message == nullptr)
    return nullptr;
  // Nobody's address, so it is no use as one.
  const auto types = static_cast<std::uintptr_t>(message->content().type_token());
  return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(&typeid(*handlers))
                                       ^ (types * 0x9e37'79b9'7f4a'7c15 | 1));
}

/// Of turns of which nothing is to be known. CAF hands `limit(most)` messages to the actor at once;
/// `handled`: all of these, and it has more; `handled_all`: some, and it has none; `over`: it is
/// gone, or not.
struct uncounted_turn {
  std::size_t limit(std::size_t most) const noexcept {
    return most;
  }
  bool handled(std::size_t) const noexcept {
    return false;
  }
  void handled_all(std::size_t) const noexcept {
  }
  void over(bool) const noexcept {
  }
};

/// Of one that its executor times, by executor::begin_timed_turn.
class timed_turn {
public:
  timed_turn(executors::executor& self, caf::resumable& job) noexcept
    : self_(self), begun_(self.begin_timed_turn(handler_kind(job))) {
  }

  /// Few beside those that it has handled: of the last ones of a turn CAF does not tell how many
  /// there were. And two at least, see turn::least.
  std::size_t limit(std::size_t most) const noexcept {
    return std::min<std::size_t>(most, std::max<std::uint64_t>(messages_ / 4, 2));
  }

  bool handled(std::size_t messages) noexcept {
    messages_ += messages;
    return false;
  }

  /// Up to `limit`, less one: a half of that, and one in doubt where there were no others.
  void handled_all(std::size_t limit) noexcept {
    messages_ = std::max<std::uint64_t>(messages_ + (limit - 1) / 2, 1);
  }

  void over(bool) const noexcept {
    self_.end_timed_turn(begun_, messages_);
  }

private:
  executors::executor& self_;
  const std::uint64_t begun_;
  std::uint64_t messages_ = 0;
};

} // namespace basal::actors
