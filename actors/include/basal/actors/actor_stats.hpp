#pragma once

#include <basal/actors/detail/named_field.hpp>

#include <caf/fwd.hpp>
#include <caf/meta/type_name.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace basal::actors {

/// How long something took, from a histogram: of actors, its buckets double, so that quantiles are
/// right to a factor of two.
struct time_stats {
  std::uint64_t count = 0;  ///< of the times
  std::uint64_t sum_ns = 0; ///< of all of them
  std::uint64_t p50_ns = 0; ///< half took at most so long
  std::uint64_t p99_ns = 0; ///< likewise 99 of 100

  /// How many took at most 1 us * 4^k, for each k below time_limits. Empty for a single actor.
  std::vector<std::uint64_t> within;

  friend bool operator==(const time_stats&, const time_stats&) = default;
};

/// Limits of time_stats::within: 1 us to 16.8 s.
inline constexpr std::size_t time_limits = 13;

/// How an inspector reads and writes time_stats.
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, time_stats& x) {
  const detail::field_namer<Inspector> field;
  return f(caf::meta::type_name("time_stats"), field("count", x.count), field("sum_ns", x.sum_ns),
           field("p50_ns", x.p50_ns), field("p99_ns", x.p99_ns), field("within", x.within));
}

/// Work of all actors of a type on message executors while somebody watched them, or of one actor
/// since it came among the busiest. Counts and times of turns shorter than 200 us are estimates: an
/// executor counts about one of them each 200 us, drawn at random, for all.
struct actor_stats {
  std::string name;             ///< of its type: `local_actor::name`, or the type in C++
  std::uint64_t id = 0;         ///< of the one actor; 0: all of the type
  std::uint64_t turns = 0;      ///< times that an executor ran one
  std::uint64_t messages = 0;   ///< that they handled
  std::uint64_t spawned = 0;    ///< that had their first turn
  std::uint64_t ended = 0;      ///< that had their last turn
  std::uint64_t busy_ns = 0;    ///< time in turns, without the time that they were suspended
  std::uint64_t mailbox = 0;    ///< most messages that waited for one at its turn, of late
  std::uint64_t longest_ns = 0; ///< the longest handler
  std::string longest_message;  ///< the message that it handled; empty: not seen
  time_stats handlers;          ///< handlers
  time_stats delays;            ///< from the message that wakes an actor to the actor's turn

  friend bool operator==(const actor_stats&, const actor_stats&) = default;
};

/// How an inspector reads and writes actor_stats.
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, actor_stats& x) {
  const detail::field_namer<Inspector> field;
  return f(caf::meta::type_name("actor_stats"), field("name", x.name), field("id", x.id),
           field("turns", x.turns), field("messages", x.messages), field("spawned", x.spawned),
           field("ended", x.ended), field("busy_ns", x.busy_ns), field("mailbox", x.mailbox),
           field("longest_ns", x.longest_ns), field("longest_message", x.longest_message),
           field("handlers", x.handlers), field("delays", x.delays));
}

/// Has `system` count what its actors do, for so long from now on or until a later call says; the
/// counts are in system_stats::actor_types and system_stats::busy_actors. They begin at 0 with
/// the first call, and stand still while nobody watches. An executor then spends up to a
/// hundredth of its time on counting; before and after, nothing but a look whether it is to.
/// Any thread; lock-free.
/// @throws std::logic_error if `system` does not run on basal
void watch_actors(caf::actor_system& system, std::chrono::milliseconds time);

} // namespace basal::actors
