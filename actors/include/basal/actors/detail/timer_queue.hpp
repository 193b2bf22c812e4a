#pragma once

#include <caf/actor_clock.hpp>
#include <caf/actor_control_block.hpp>
#include <caf/atom.hpp>
#include <caf/group.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/message.hpp>
#include <caf/message_id.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <variant>
#include <vector>

namespace basal::actors::detail {

/// A `caf::timeout_msg{type, id}` for `self`.
struct behaviour_timeout {
  caf::strong_actor_ptr self;
  caf::atom_value type;
  std::uint64_t id;
};

/// A `caf::sec::request_timeout` in answer to the request whose response would carry `id`.
struct request_timeout {
  caf::strong_actor_ptr self;
  caf::message_id id;
};

/// A delayed message to one actor.
struct actor_message {
  caf::strong_actor_ptr receiver;
  caf::mailbox_element_ptr content;
};

/// A delayed message to every member of a group.
struct group_message {
  caf::group target;
  caf::strong_actor_ptr sender;
  caf::message content;
};

using delivery = std::variant<behaviour_timeout, request_timeout, actor_message, group_message>;

/// Timers by due time: the data structure behind `basal::actors::clock`, without threads and
/// without a clock of its own.
///
/// Two ordered maps: one by (due, order of arrival), one by (actor, kind, key) for timers that can
/// be cancelled. Everything is O(log n); `cancel_actor` O(k + log n) for k timers of that actor.
///
/// Not thread-safe. Whatever leaves the queue is returned as a `node` that the caller destroys
/// after releasing its lock: dropping the last reference to an actor runs its clean-up, which
/// calls the clock again.
///
/// References are strong. An actor that nobody else holds and that waits for its `after` must live
/// until the timeout has come (CAF 0.17.6 promises it, `tests/actors/conformance` shows it).
class timer_queue {
  enum class kind : std::uint8_t { ordinary, multi, request };

  struct index_key {
    caf::actor_id actor;
    kind what;
    std::uint64_t key;
    auto operator<=>(const index_key&) const = default;
  };

  struct schedule_key;
  struct entry;
  using schedule = std::map<schedule_key, entry>;
  using index = std::map<index_key, schedule::iterator>;

public:
  using time_point = caf::actor_clock::time_point;

  /// An entry that has left the queue; may be empty. `node.mapped().what` is the delivery.
  using node = schedule::node_type;

  timer_queue() = default;
  timer_queue(const timer_queue&) = delete;
  timer_queue& operator=(const timer_queue&) = delete;

  /// Schedules a timeout and returns the one of the same actor and type that it replaces.
  [[nodiscard]] node set_ordinary(time_point due, behaviour_timeout what);

  /// Schedules a timeout beside those that the actor has.
  void set_multi(time_point due, behaviour_timeout what);

  /// Schedules the timeout of one request and returns the one of the same id that it replaces.
  [[nodiscard]] node set_request(time_point due, request_timeout what);

  /// Schedules a message. Only `clear` and `take_due` remove it again.
  void add_message(time_point due, actor_message what);
  void add_message(time_point due, group_message what);

  [[nodiscard]] node cancel_ordinary(caf::actor_id actor, caf::atom_value type);
  [[nodiscard]] node cancel_request(caf::actor_id actor, caf::message_id id);

  /// Removes every timeout of `actor`; delayed messages to it stay.
  [[nodiscard]] std::vector<node> cancel_actor(caf::actor_id actor);

  /// Removes everything with `due <= now`, earliest first, first come first served among equals.
  [[nodiscard]] std::vector<node> take_due(time_point now);

  /// Removes everything.
  [[nodiscard]] schedule clear();

  /// Returns when `take_due` has something to return.
  [[nodiscard]] std::optional<time_point> next_due() const;

  /// Returns the actors that have timeouts here, each once.
  [[nodiscard]] std::vector<caf::strong_actor_ptr> waiting() const;

  [[nodiscard]] std::size_t size() const noexcept {
    return schedule_.size();
  }
  [[nodiscard]] bool empty() const noexcept {
    return schedule_.empty();
  }

private:
  struct schedule_key {
    time_point due;
    std::uint64_t sequence;
    auto operator<=>(const schedule_key&) const = default;
  };

  struct entry {
    delivery what;
    std::optional<index_key> key; // empty for messages, which nobody cancels one by one
  };

  node replace(time_point due, index_key key, delivery what);
  node cancel(const index_key& key);
  node take(schedule::iterator position);
  schedule_key next_key(time_point due) {
    return {due, sequence_++};
  }

  schedule schedule_;
  index index_;
  std::uint64_t sequence_ = 0;
};

} // namespace basal::actors::detail
