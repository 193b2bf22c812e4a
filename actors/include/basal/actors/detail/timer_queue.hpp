#pragma once

#include <caf/actor_clock.hpp>
#include <caf/actor_control_block.hpp>
#include <caf/atom.hpp>
#include <caf/group.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/message.hpp>
#include <caf/message_id.hpp>

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
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

/// A delivery and its time. Made by timer_queue.
class timer {
public:
  using time_point = caf::actor_clock::time_point;

  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;

  const time_point due;
  delivery what;

private:
  friend class timer_queue;
  using place_hook = boost::intrusive::list_member_hook<
    boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;
  using order_hook
    = boost::intrusive::set_member_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

  /// Messages are timeouts of nobody; of the others only ordinary ones are replaced.
  enum class kind : std::uint8_t { message, ordinary, beside };

  timer(time_point when, delivery content, kind timeout)
    : due(when), what(std::move(content)), kind_(timeout) {
  }

  kind kind_;
  std::uint64_t sequence_ = 0; ///< by the order of arrival
  place_hook in_stretch_;
  order_hook in_order_;
  place_hook of_actor_;
};

/// Timers by due time: the data structure behind `basal::actors::clock`, without threads and
/// without a clock of its own.
///
/// Those that are due later stand, unsorted, in lists for a millisecond each. When its time has
/// come, a list is sorted into a tree by (due, order of arrival). Besides, each actor has a list of
/// its timeouts. So what is cancelled, or ends with its actor, was never compared with another; and
/// those of requests, which CAF 0.17.6 leaves here when the answer has come, are sorted among those
/// of one millisecond. (Varghese and Lauck, SOSP 1987, scheme 4, with a map of lists in place of
/// the wheel.)
///
/// `add` is O(log m) for m milliseconds that have timers, or O(log k) for k of the current one, and
/// O(1) behind one of the same millisecond; amortised, since the table of actors grows.
/// `cancel_ordinary` and `next_due` are O(1), but for a millisecond that is left empty, which is
/// O(log m). `cancel_request`, which get() calls, and CAF 0.17.6 never, is linear in those of that
/// actor that came later.
///
/// Not thread-safe. Whatever leaves the queue is returned as a `node` that the caller destroys
/// after releasing its lock: dropping the last reference to an actor runs its clean-up, which
/// calls the clock again. Timers are made before it is taken, likewise.
///
/// References are strong. An actor that nobody else holds and that waits for its `after` must live
/// until the timeout has come (CAF 0.17.6 promises it, `tests/actors/conformance` shows it).
class timer_queue {
public:
  using time_point = timer::time_point;
  using node = std::unique_ptr<timer>;

  timer_queue() = default;
  timer_queue(const timer_queue&) = delete;
  timer_queue& operator=(const timer_queue&) = delete;
  ~timer_queue();

  /// A timeout that replaces the one of the same actor and type.
  [[nodiscard]] static node ordinary(time_point due, behaviour_timeout what);

  /// A timeout beside those that the actor has.
  [[nodiscard]] static node multi(time_point due, behaviour_timeout what);

  /// The timeout of one request. An actor never uses an id twice.
  [[nodiscard]] static node request(time_point due, request_timeout what);

  /// A message, which only `take_due` removes again.
  [[nodiscard]] static node message(time_point due, actor_message what);
  [[nodiscard]] static node message(time_point due, group_message what);

  /// Schedules a timer, which it takes.
  /// @returns the one that it replaces, or null
  /// @throws std::bad_alloc; nothing is scheduled or taken then
  [[nodiscard]] node add(node& what);

  /// Both return null where there is none.
  [[nodiscard]] node cancel_ordinary(caf::actor_id actor, caf::atom_value type);
  [[nodiscard]] node cancel_request(caf::actor_id actor, caf::message_id id);

  /// Removes every timeout of `actor`; delayed messages to it stay.
  [[nodiscard]] std::vector<node> cancel_actor(caf::actor_id actor);

  /// Removes everything with `due <= now`, earliest first, first come first served among equals.
  [[nodiscard]] std::vector<node> take_due(time_point now);

  /// Returns when `take_due` has something to return, or, after one was cancelled, a time less than
  /// a millisecond before that.
  [[nodiscard]] std::optional<time_point> next_due() const;

  /// Returns the actors that have timeouts here, each once, by their ids.
  [[nodiscard]] std::vector<caf::strong_actor_ptr> waiting() const;

  [[nodiscard]] std::size_t size() const noexcept {
    return size_;
  }
  [[nodiscard]] bool empty() const noexcept {
    return size_ == 0;
  }

private:
  template <timer::place_hook timer::*Hook>
  using list
    = boost::intrusive::list<timer, boost::intrusive::member_hook<timer, timer::place_hook, Hook>,
                             boost::intrusive::constant_time_size<false>>;

  struct by_time {
    using type = std::tuple<time_point, std::uint64_t>;
    type operator()(const timer& t) const noexcept {
      return {t.due, t.sequence_};
    }
  };

  struct timeouts {
    list<&timer::of_actor_> ordinary; ///< one of each type
    list<&timer::of_actor_> beside;   ///< in the order of arrival

    bool empty() const noexcept {
      return ordinary.empty() && beside.empty();
    }
  };

  /// The millisecond of a time, since the clock's epoch.
  static std::int64_t stretch_of(time_point t) noexcept;

  struct stretch {
    list<&timer::in_stretch_> timers;
    time_point earliest = time_point::max(); ///< of all that it ever had
  };
  using stretches = std::map<std::int64_t, stretch>;

  void erase(stretches::iterator empty) noexcept;
  void schedule(timer& t);
  static timer* find_ordinary(timeouts& of, caf::atom_value type) noexcept;
  node unlink(timer& t) noexcept;
  node take(timer& t) noexcept;

  /// Those of `stretch_` and of all before it.
  boost::intrusive::set<
    timer, boost::intrusive::member_hook<timer, timer::order_hook, &timer::in_order_>,
    boost::intrusive::key_of_value<by_time>, boost::intrusive::constant_time_size<false>>
    near_;
  std::int64_t stretch_ = std::numeric_limits<std::int64_t>::min(); ///< of the latest take_due
  stretches later_;                           ///< by stretch_of; none is empty
  stretches::iterator recent_ = later_.end(); ///< the latest one was added to

  std::unordered_map<caf::actor_id, timeouts> of_actors_;
  std::size_t size_ = 0;
  std::uint64_t sequence_ = 0;
};

} // namespace basal::actors::detail
