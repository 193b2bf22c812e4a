#include <basal/actors/detail/timer_queue.hpp>

#include <caf/abstract_actor.hpp>

#include <algorithm>
#include <chrono>
#include <iterator>

#include <basal/executors/detail/assert.hpp>

namespace basal::actors::detail {

namespace {

/// The actor whose timeout this is. @pre it is one
const caf::strong_actor_ptr& owner_of(const delivery& what) {
  const auto* of_behaviour = std::get_if<behaviour_timeout>(&what);
  return of_behaviour != nullptr ? of_behaviour->self : std::get<request_timeout>(what).self;
}

} // namespace

timer_queue::~timer_queue() {
  while (!near_.empty())
    const auto gone = take(*near_.begin());
  while (!later_.empty())
    const auto gone = take(later_.begin()->second.timers.front());
}

timer_queue::node timer_queue::ordinary(time_point due, behaviour_timeout what) {
  BASAL_ASSERT(what.self != nullptr, "a timeout is that of an actor");
  return node{new timer(due, std::move(what), timer::kind::ordinary)};
}

timer_queue::node timer_queue::multi(time_point due, behaviour_timeout what) {
  BASAL_ASSERT(what.self != nullptr, "a timeout is that of an actor");
  return node{new timer(due, std::move(what), timer::kind::beside)};
}

timer_queue::node timer_queue::request(time_point due, request_timeout what) {
  BASAL_ASSERT(what.self != nullptr, "a timeout is that of an actor");
  return node{new timer(due, std::move(what), timer::kind::beside)};
}

timer_queue::node timer_queue::message(time_point due, actor_message what) {
  return node{new timer(due, std::move(what), timer::kind::message)};
}

timer_queue::node timer_queue::message(time_point due, group_message what) {
  return node{new timer(due, std::move(what), timer::kind::message)};
}

timer_queue::node timer_queue::add(node& what) {
  auto& t = *what;
  t.sequence_ = sequence_++;
  if (t.kind_ == timer::kind::message) {
    schedule(t);
    what.release();
    return {};
  }
  // If there is no memory for the next step, this stays empty until a timeout follows, or the actor
  // ends.
  auto& own = of_actors_[owner_of(t.what)->id()];
  schedule(t);
  what.release();
  if (t.kind_ == timer::kind::beside) {
    own.beside.push_back(t);
    return {};
  }
  auto* replaced = find_ordinary(own, std::get<behaviour_timeout>(t.what).type);
  own.ordinary.push_back(t);
  return replaced == nullptr ? node{} : take(*replaced);
}

timer_queue::node timer_queue::cancel_ordinary(caf::actor_id actor, caf::atom_value type) {
  const auto own = of_actors_.find(actor);
  if (own == of_actors_.end())
    return {};
  auto* found = find_ordinary(own->second, type);
  return found == nullptr ? node{} : take(*found);
}

timer_queue::node timer_queue::cancel_request(caf::actor_id actor, caf::message_id id) {
  const auto own = of_actors_.find(actor);
  if (own == of_actors_.end())
    return {};
  auto& all = own->second.beside;
  const auto found = std::find_if(all.rbegin(), all.rend(), [&](const timer& t) {
    const auto* request = std::get_if<request_timeout>(&t.what);
    return request != nullptr && request->id == id;
  });
  return found == all.rend() ? node{} : take(*found);
}

std::vector<timer_queue::node> timer_queue::cancel_actor(caf::actor_id actor) {
  std::vector<node> result;
  const auto own = of_actors_.find(actor);
  if (own == of_actors_.end())
    return result;
  for (auto* all : {&own->second.ordinary, &own->second.beside})
    while (!all->empty()) {
      result.emplace_back();
      result.back() = unlink(all->front());
    }
  of_actors_.erase(own);
  return result;
}

std::vector<timer_queue::node> timer_queue::take_due(time_point now) {
  stretch_ = std::max(stretch_, stretch_of(now));
  while (!later_.empty() && later_.begin()->first <= stretch_) {
    auto& its = later_.begin()->second.timers;
    while (!its.empty()) {
      auto& t = its.front();
      its.pop_front();
      near_.insert(near_.end(), t);
    }
    erase(later_.begin());
  }
  std::vector<node> result;
  while (!near_.empty() && near_.begin()->due <= now) {
    result.emplace_back();
    result.back() = take(*near_.begin());
  }
  return result;
}

std::optional<timer_queue::time_point> timer_queue::next_due() const {
  if (!near_.empty())
    return near_.begin()->due;
  if (later_.empty())
    return std::nullopt;
  return later_.begin()->second.earliest;
}

std::vector<caf::strong_actor_ptr> timer_queue::waiting() const {
  std::vector<caf::strong_actor_ptr> result;
  for (const auto& [id, own] : of_actors_)
    if (!own.empty())
      result.push_back(owner_of((own.beside.empty() ? own.ordinary : own.beside).front().what));
  std::sort(result.begin(), result.end(),
            [](const auto& a, const auto& b) { return a->id() < b->id(); });
  return result;
}

std::int64_t timer_queue::stretch_of(time_point t) noexcept {
  return std::chrono::floor<std::chrono::milliseconds>(t.time_since_epoch()).count();
}

void timer_queue::erase(stretches::iterator empty) noexcept {
  if (recent_ == empty)
    recent_ = later_.end();
  later_.erase(empty);
}

/// Takes a timer that is nowhere yet.
/// @throws std::bad_alloc; it is nowhere then
void timer_queue::schedule(timer& t) {
  if (const auto its = stretch_of(t.due); its <= stretch_) {
    near_.insert(near_.end(), t);
  } else {
    if (recent_ == later_.end() || recent_->first != its)
      recent_ = later_.try_emplace(its).first;
    recent_->second.timers.push_back(t);
    recent_->second.earliest = std::min(recent_->second.earliest, t.due);
  }
  ++size_;
}

timer* timer_queue::find_ordinary(timeouts& of, caf::atom_value type) noexcept {
  for (auto& t : of.ordinary)
    if (std::get<behaviour_timeout>(t.what).type == type)
      return &t;
  return nullptr;
}

/// But for an empty entry of its actor.
timer_queue::node timer_queue::unlink(timer& t) noexcept {
  if (t.in_order_.is_linked()) {
    t.in_order_.unlink();
  } else {
    const auto here = decltype(stretch::timers)::s_iterator_to(t);
    const bool is_alone = std::next(here) == std::prev(here); // with the head of the list
    t.in_stretch_.unlink();
    if (is_alone)
      erase(later_.find(stretch_of(t.due)));
  }
  if (t.kind_ != timer::kind::message)
    t.of_actor_.unlink();
  --size_;
  return node{&t};
}

timer_queue::node timer_queue::take(timer& t) noexcept {
  auto result = unlink(t);
  if (t.kind_ != timer::kind::message)
    if (const auto own = of_actors_.find(owner_of(t.what)->id()); own->second.empty())
      of_actors_.erase(own);
  return result;
}

} // namespace basal::actors::detail
