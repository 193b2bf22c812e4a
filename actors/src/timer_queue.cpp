#include <basal/actors/detail/timer_queue.hpp>

#include <caf/abstract_actor.hpp>

#include <limits>
#include <utility>

#include <basal/executors/detail/assert.hpp>

namespace basal::actors::detail {

timer_queue::node timer_queue::set_ordinary(time_point due, behaviour_timeout what) {
  BASAL_ASSERT(what.self != nullptr, "a timeout is that of an actor");
  const index_key key{what.self->id(), kind::ordinary, static_cast<std::uint64_t>(what.type)};
  return replace(due, key, std::move(what));
}

void timer_queue::set_multi(time_point due, behaviour_timeout what) {
  BASAL_ASSERT(what.self != nullptr, "a timeout is that of an actor");
  const auto when = next_key(due);
  const index_key key{what.self->id(), kind::multi, when.sequence};
  const auto position = schedule_.emplace(when, entry{std::move(what), key}).first;
  index_.emplace(key, position);
}

timer_queue::node timer_queue::set_request(time_point due, request_timeout what) {
  BASAL_ASSERT(what.self != nullptr, "a timeout is that of an actor");
  const index_key key{what.self->id(), kind::request, what.id.integer_value()};
  return replace(due, key, std::move(what));
}

void timer_queue::add_message(time_point due, actor_message what) {
  schedule_.emplace(next_key(due), entry{std::move(what), std::nullopt});
}

void timer_queue::add_message(time_point due, group_message what) {
  schedule_.emplace(next_key(due), entry{std::move(what), std::nullopt});
}

timer_queue::node timer_queue::cancel_ordinary(caf::actor_id actor, caf::atom_value type) {
  return cancel({actor, kind::ordinary, static_cast<std::uint64_t>(type)});
}

timer_queue::node timer_queue::cancel_request(caf::actor_id actor, caf::message_id id) {
  return cancel({actor, kind::request, id.integer_value()});
}

std::vector<timer_queue::node> timer_queue::cancel_actor(caf::actor_id actor) {
  constexpr auto last_key = std::numeric_limits<std::uint64_t>::max();
  const auto first = index_.lower_bound({actor, kind::ordinary, 0});
  const auto last = index_.upper_bound({actor, kind::request, last_key});
  std::vector<node> result;
  for (auto i = first; i != last; ++i)
    result.push_back(schedule_.extract(i->second));
  index_.erase(first, last);
  return result;
}

std::vector<timer_queue::node> timer_queue::take_due(time_point now) {
  std::vector<node> result;
  while (!schedule_.empty() && schedule_.begin()->first.due <= now)
    result.push_back(take(schedule_.begin()));
  return result;
}

timer_queue::schedule timer_queue::clear() {
  BASAL_ASSERT(index_.size() <= schedule_.size(), "what can be cancelled is scheduled");
  index_.clear();
  return std::exchange(schedule_, {});
}

std::optional<timer_queue::time_point> timer_queue::next_due() const {
  if (schedule_.empty())
    return std::nullopt;
  return schedule_.begin()->first.due;
}

std::vector<caf::strong_actor_ptr> timer_queue::waiting() const {
  struct owner {
    caf::strong_actor_ptr operator()(const behaviour_timeout& x) const {
      return x.self;
    }
    caf::strong_actor_ptr operator()(const request_timeout& x) const {
      return x.self;
    }
    caf::strong_actor_ptr operator()(const actor_message&) const {
      return nullptr;
    }
    caf::strong_actor_ptr operator()(const group_message&) const {
      return nullptr;
    }
  };
  std::vector<caf::strong_actor_ptr> result;
  for (const auto& [key, position] : index_) // ordered by actor
    if (result.empty() || result.back()->id() != key.actor)
      result.push_back(std::visit(owner{}, position->second.what));
  return result;
}

timer_queue::node timer_queue::replace(time_point due, index_key key, delivery what) {
  const auto known = index_.lower_bound(key);
  // Most are due behind all others: those of requests with one and the same time-out.
  const auto position
    = schedule_.emplace_hint(schedule_.end(), next_key(due), entry{std::move(what), key});
  if (known == index_.end() || known->first != key) {
    index_.emplace_hint(known, key, position);
    return {};
  }
  return schedule_.extract(std::exchange(known->second, position));
}

timer_queue::node timer_queue::cancel(const index_key& key) {
  const auto found = index_.find(key);
  return found == index_.end() ? node{} : take(found->second);
}

timer_queue::node timer_queue::take(schedule::iterator position) {
  if (position->second.key)
    index_.erase(*position->second.key);
  return schedule_.extract(position);
}

} // namespace basal::actors::detail
