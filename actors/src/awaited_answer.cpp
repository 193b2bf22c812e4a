#include <basal/actors/detail/awaited_answer.hpp>

#include <basal/actors/detail/system_core.hpp>
#include <basal/actors/errors.hpp>
#include <basal/actors/get.hpp>
#include <basal/executors/detail/assert.hpp>
#include <basal/posse/effects.hpp>

#include <caf/actor_clock.hpp>
#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/sec.hpp>
#include <caf/system_messages.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <tuple>
#include <vector>

#include "arrivals.hpp"
#include "counted_lock.hpp"

namespace basal::actors::detail {

namespace {

using actor = caf::scheduled_actor;

/// Gives access to what CAF keeps for derived actors.
struct ending_actor : actor {
  /// Whether an exit message ends `self`, and not whatever its own handler does.
  static bool has_default_handler(actor& self) {
    using function = void (*)(pointer, caf::exit_msg&);
    const auto* is = (self.*&ending_actor::exit_handler_).target<function>();
    return is != nullptr && *is == &actor::default_exit_handler;
  }
};

/// How many messages that wait already may be looked through before a wait: some microseconds.
constexpr std::size_t most_looked_at = 1000;

/// How many locks the actors of a process share: more than there are executors.
constexpr std::size_t places = 64;

} // namespace

/// A part of the wait graph: the edges of the actors whose ids say so.
struct alignas(64) awaited_answer::place {
  counted_lock edges;
  awaited_answer* first = nullptr;
};

/// One actor on the way through the wait graph.
struct awaited_answer::step {
  caf::strong_actor_ptr actor;
  caf::message_id waits_for; // with the actor's id, one wait and no other
  std::string name;          ///< if it was asked for
};

awaited_request::~awaited_request() {
  if (asker_.load(std::memory_order_acquire) == nullptr)
    return;
  const std::lock_guard guard{awaited_answer::place_of(asker_id_).edges};
  // It may have gone on since. Relaxed: the lock orders it.
  if (auto* asker = asker_.load(std::memory_order_relaxed))
    asker->request_ = nullptr;
}

awaited_answer::awaited_answer(caf::scheduled_actor& self, caf::actor_control_block& other,
                               awaited_request& request, system_core& core)
  : self_(self),
    other_(other),
    core_(core),
    answer_id_(request.mid.response_id()),
    request_(&request),
    handled_(self.current_mailbox_element()) {
}

awaited_answer::~awaited_answer() {
  if (entered_) // an exception
    leave();
}

awaited_answer::place& awaited_answer::place_of(std::uint64_t actor_id) noexcept {
  static auto& all = *new std::array<place, places>; // actors of static systems outlive others
  return all[actor_id % places];
}

bool awaited_answer::waits_locked(caf::actor_control_block& actor) noexcept {
  return actor.get()->getf(waits_flag);
}

awaited_answer& awaited_answer::of_locked(caf::actor_control_block& actor) noexcept {
  BASAL_ASSERT(waits_locked(actor), "only an actor that waits has an edge in the wait graph");
  return *static_cast<awaited_answer*>(
    static_cast<caf::local_actor*>(actor.get())->current_mailbox_element());
}

caf::expected<caf::mailbox_element_ptr>
awaited_answer::await(caf::scheduled_actor& self, caf::actor_control_block& other,
                      std::unique_ptr<awaited_request> request, const caf::duration& timeout) {
  posse::refuse_effect("waits for an actor");
  auto& core = system_core::of(self.home_system(), "basal::actors::get was called");
  BASAL_ASSERT(waits_without_thread(self), "an actor with a thread of its own waits on that");
  BASAL_ASSERT(request != nullptr, "a wait is for somebody's answer");
  awaited_answer wait{self, other, *request, core};
  wait.look_at_backlog();
  if (wait.exit_)
    return std::move(wait.exit_);
  if (!wait.enter())
    return caf::make_error(caf::exit_reason::user_shutdown);
  if (auto circle = wait.find_circle()) {
    wait.leave(); // before the request is destroyed
    return make_error(errc::would_deadlock, std::move(*circle));
  }
  const auto id = request->mid;
  other.enqueue(caf::mailbox_element_ptr{request.release()}, self.context());
  self.request_response_timeout(timeout, id);
  wait.wait();
  if (timeout.valid())
    self.clock().cancel_request_timeout(&self, wait.answer_id_);
  if (wait.answer_ == nullptr)
    return wait.exit_ ? std::move(wait.exit_)
                      : caf::make_error(caf::exit_reason::user_shutdown); // the system ends
  return std::move(wait.answer_);
}

/// @returns false if the system ends.
bool awaited_answer::enter() {
  BASAL_ASSERT(!entered_, "a wait enters the wait graph once");
  BASAL_ASSERT(!self_.getf(waits_flag), "an actor waits for one answer at a time");
  auto& here = place_of(self_.id());
  here.edges.lock_adding();
  if (core_.ends_waits()) {
    here.edges.unlock_removing();
    return false;
  }
  request_->asker_id_ = self_.id();
  request_->asker_.store(this, std::memory_order_relaxed); // not sent yet
  next_ = here.first;
  if (next_ != nullptr)
    next_->previous_ = this;
  here.first = this;
  self_.current_mailbox_element(this);
  self_.setf(waits_flag);
  here.edges.unlock();
  entered_ = true;
  return true;
}

/// The reader, once, after enter().
void awaited_answer::leave() noexcept {
  BASAL_ASSERT(entered_, "a wait leaves the wait graph once, after it has entered");
  BASAL_ASSERT(self_.current_mailbox_element() == this, "waits of one actor do not overlap");
  auto& here = place_of(self_.id());
  here.edges.lock();
  self_.unsetf(waits_flag);
  self_.current_mailbox_element(handled_);
  if (next_ != nullptr)
    next_->previous_ = previous_;
  (previous_ != nullptr ? previous_->next_ : here.first) = next_;
  if (request_ != nullptr)
    request_->asker_.store(nullptr, std::memory_order_release);
  here.edges.unlock_removing();
  entered_ = false;
}

/// Follows the edges from `self_` until they come back to it.
/// @param named whether the names of the actors are asked for, too: others wait meanwhile
/// @returns whether they do, and the actors on the way in `path`
bool awaited_answer::follow(std::vector<step>& path, bool named) const {
  path.clear();
  const auto* request = request_; // not sent yet
  auto* actor = &other_;
  caf::strong_actor_ptr held; // the second one and those after it: the caller keeps the first
  const auto* seen = actor;   // an earlier actor on the way, in case that others wait in a circle
  for (std::size_t steps = 1;; ++steps) {
    auto& there = place_of(actor->id());
    if (there.edges.is_empty())
      return false;
    const std::lock_guard guard{there.edges};
    if (!waits_locked(*actor))
      return false;
    const auto& wait = of_locked(*actor);
    // The handler of the request may have answered, or let somebody else do so, before it waits. A
    // response promise takes the sender, delegate() says answered.
    if (request == wait.handled_ && (request->sender == nullptr || request->mid.is_answered()))
      return false;
    path.push_back({caf::strong_actor_ptr{actor}, wait.answer_id_, {}});
    if (named)
      path.back().name = wait.self_.name();
    if (&wait == this)
      return true;
    request = wait.request_;
    if (request == nullptr) // handled: `wait.other_` can wait for whomever it likes
      return false;
    held = caf::strong_actor_ptr{&wait.other_}; // whose handle is there until `wait` has left
    actor = &wait.other_;
    if (actor == seen)
      return false;
    if ((steps & (steps - 1)) == 0)
      seen = actor;
  }
}

/// @returns a sentence that names the actors of the circle that `self_` closes, if it does.
std::optional<std::string> awaited_answer::find_circle() {
  std::vector<step> path;
  if (!follow(path, false))
    return std::nullopt;
  // Edges may have come and gone on the way. Those that are there a second time were all there when
  // the first one was over.
  std::vector<step> again;
  const bool same = follow(again, true)
                    && std::equal(path.begin(), path.end(), again.begin(), again.end(),
                                  [](const step& x, const step& y) {
                                    return x.actor == y.actor && x.waits_for == y.waits_for;
                                  });
  if (!same)
    return std::nullopt;
  auto named = [](const step& x) { return x.name + " (" + std::to_string(x.actor->id()) + ')'; };
  std::string text = "these actors would wait for each other for ever: " + named(again.back());
  for (const auto& x : again)
    text += " -> " + named(x);
  return text;
}

void awaited_answer::note_exit(const caf::mailbox_element& x) {
  const auto& content = x.content();
  if (exit_ || !content.match_elements<caf::exit_msg>())
    return;
  const auto& reason = content.get_as<caf::exit_msg>(0).reason;
  if (reason == caf::exit_reason::kill || ending_actor::has_default_handler(self_))
    exit_ = reason;
}

/// Looks at messages that the actor fetched from its mailbox before the call of its handler.
void awaited_answer::look_at_backlog() {
  auto& queues = self_.mailbox().queue().queues();
  auto look = [this](const caf::mailbox_element& x) { note_exit(x); };
  std::get<actor::urgent_queue_index>(queues).peek_all(look);
  auto& normal = std::get<actor::normal_queue_index>(queues);
  if (normal.total_task_size() <= most_looked_at)
    normal.peek_all(look);
}

/// The reader. Takes the answer out of what has arrived and leaves the rest for the actor.
/// @returns whether the wait is over
bool awaited_answer::read_mailbox() {
  auto& queue = self_.mailbox().queue();
  auto* newest = arrivals(self_.mailbox()).take_head();
  for (caf::mailbox_element::node_pointer x = newest; x != nullptr;) {
    auto* message = caf::intrusive::lifo_inbox<actor::mailbox_policy>::promote(x);
    x = x->next;
    // As numbers: CAF's own comparison overflows for requests of high priority (0.17.6).
    if (message->mid.integer_value() == answer_id_.integer_value()) {
      answer_.reset(message); // the oldest counts: the answer before its time-out
      continue;
    }
    note_exit(*message);
    queue.lifo_append(message);
  }
  if (newest != nullptr)
    queue.stop_lifo_append();
  return answer_ != nullptr || exit_ || core_.ends_waits();
}

void awaited_answer::wait() {
  auto& inbox = arrivals(self_.mailbox());
  do {
    if (read_mailbox()) {
      leave();
      return;
    }
  } while (!inbox.try_block());
  if (core_.await_event(done_))
    return;
  // In a test, where nobody else runs.
  inbox.try_unblock();
  leave();
  exit_ = caf::make_error(caf::sec::request_timeout);
}

void awaited_answer::wake_up(caf::scheduled_actor& actor) {
  auto& wait = *static_cast<awaited_answer*>(actor.current_mailbox_element());
  BASAL_ASSERT(&wait.self_ == &actor && wait.entered_, "a message wakes the actor it was sent to");
  auto& inbox = arrivals(actor.mailbox());
  // Not the last one: its handler runs.
  caf::intrusive_ptr_release(static_cast<caf::resumable*>(&actor));
  do {
    if (wait.read_mailbox()) {
      wait.leave();
      wait.done_.set();
      return;
    }
  } while (!inbox.try_block());
}

void awaited_answer::end_all(caf::actor_system& system, system_core& core) {
  core.end_waits();
  for (std::uint64_t i = 0; i < places; ++i) {
    std::vector<caf::strong_actor_ptr> waiting;
    {
      auto& here = place_of(i);
      const std::lock_guard guard{here.edges};
      for (auto* x = here.first; x != nullptr; x = x->next_)
        if (&x->self_.home_system() == &system)
          waiting.emplace_back(x->self_.ctrl());
    }
    // Any message does.
    for (const auto& x : waiting)
      x->enqueue(nullptr, caf::make_message_id(caf::message_priority::high),
                 caf::make_message(caf::exit_msg{x->get()->address(),
                                                 caf::make_error(caf::exit_reason::user_shutdown)}),
                 nullptr);
  }
}

caf::error error_of(caf::mailbox_element& answer) {
  auto& content = answer.content();
  if (content.match_elements<caf::error>())
    return content.move_if_unshared<caf::error>(0);
  return caf::make_error(caf::sec::unexpected_response, answer.move_content_to_message());
}

bool waits_without_thread(caf::scheduled_actor& self) {
  return self.subtype() == caf::resumable::scheduled_actor
         && !self.getf(caf::abstract_actor::is_detached_flag);
}

} // namespace basal::actors::detail
