#pragma once

#include "busiest.hpp"
#include "delay_probes.hpp"

#include <basal/actors/actor_stats.hpp>
#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/xorshift.hpp>
#include <basal/executors/executor.hpp>

#include <caf/fwd.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace basal::actors {

/// The types of actors that one executor has run, with a tally each; in bounded memory. The
/// executor's thread writes, any thread reads.
class actor_types {
public:
  static constexpr std::size_t most = 512; ///< types; those beyond are one
  static constexpr const char* others = "(others)";

  struct entry {
    const std::string name;
    actor_tally counts;
  };

  /// The address of the virtual functions of `job`, which all objects of its type have in common.
  static const void* key_of(const caf::resumable& job) noexcept {
    return *reinterpret_cast<const void* const*>(&job);
  }

  actor_types() = default;
  ~actor_types();

  actor_types(const actor_types&) = delete;
  actor_types& operator=(const actor_types&) = delete;

  /// Writer only. @param key see key_of()
  /// @returns null where it has not been seen
  entry* find(const void* key) noexcept;

  /// Writer only. @param job of that type
  /// @returns its entry, a new one where it has none; null when memory is short
  entry* of(const void* key, const caf::resumable& job) noexcept;

  /// Any thread: those that there are now.
  template <class Visit>
  void for_each(Visit visit) {
    // Acquire: pairs with the release in of(), and shows the entries before it.
    for (std::size_t i = 0, end = count_.load(std::memory_order_acquire); i < end; ++i)
      visit(*entries_[i]);
  }

private:
  static constexpr std::size_t slots = 2 * most;
  static std::size_t slot_of(const void* key) noexcept;

  struct slot {
    const void* key = nullptr;
    entry* found = nullptr;
  };

  std::array<slot, slots> slots_{}; ///< the writer's; open addressing
  std::array<entry*, most + 1> entries_{};
  std::atomic<std::size_t> count_{0}; // written by the writer, release
};

/// Counts of one executor: of the actors that it runs. It counts a random part of their turns, so
/// that counting takes little of its time: about one each `counted_every`, which stands for as many
/// as began in between, and for itself each turn that takes longer than that.
class actor_lane {
public:
  /// To count a turn takes some 0.5 us.
  static constexpr std::chrono::nanoseconds counted_every = std::chrono::microseconds{200};

  explicit actor_lane(std::size_t executor) noexcept;

  // -- its executor's thread only ----------------------------------------------

  /// A turn begins. @returns whether it is to be counted
  bool picks() noexcept {
    BASAL_ASSERT(left_ > 0, "a turn is drawn before it is picked");
    if (--left_ != 0)
      return false;
    picked_weight_ = drawn_weight_;
    draw();
    return true;
  }

  /// Its actor had waited for it.
  void delayed(caf::resumable& job, std::uint64_t ticks) noexcept;

  /// Whether a turn of so many ticks is counted in any case.
  bool is_long(std::uint64_t ticks) const noexcept {
    return ticks >= interval_;
  }

  // -- any thread -----------------------------------------------------------------

  actor_types& types() noexcept {
    return types_;
  }
  busiest& actors() noexcept {
    return actors_;
  }

private:
  friend class counted_turn;
  friend class passed_turn;

  static constexpr std::uint64_t most_weight = 4096;

  void draw() noexcept;
  void adapt(std::uint64_t begin, std::uint64_t ticks) noexcept;

  const std::uint64_t interval_;    ///< counted_every in ticks
  std::uint64_t left_ = 1;          ///< turns until one is picked
  std::uint64_t drawn_weight_ = 1;  ///< the number of turns that one stands for
  std::uint64_t picked_weight_ = 1; ///< the same of the latest one
  std::uint64_t weight_ = 1;        ///< the same of the next one to be drawn
  std::uint64_t picked_at_ = 0;     ///< ticks
  basal::detail::xorshift random_;
  actor_types types_;
  busiest actors_;
};

/// A turn that is counted. Lives on the executor's stack as long as the turn.
class counted_turn {
public:
  counted_turn(actor_lane& lane, executors::executor& self, caf::resumable& job) noexcept;

  counted_turn(const counted_turn&) = delete;
  counted_turn& operator=(const counted_turn&) = delete;

  /// Its actor is about to be resumed for `most` messages. @returns for how many it is to be: the
  /// first one by itself, and no more than there are, so that it is known how many it handles
  std::size_t limit(std::size_t most) noexcept;

  /// The actor has handled that many.
  /// @returns whether they come on top of the turn: the first one by itself does, since a turn
  /// has two messages or more
  bool handled(std::size_t messages) noexcept;

  /// The actor has handled all that it had, at most `most`, and may be gone.
  void handled_all(std::size_t most) noexcept {
    handled(std::min<std::size_t>(waiting_, most));
  }

  /// The turn is over, and with it the actor, if `ended`.
  void over(bool ended) noexcept;

private:
  actor_lane& lane_;
  executors::executor& self_;
  caf::scheduled_actor* const actor_; ///< null: what runs is none
  actor_types::entry* const type_;    ///< null: there is no memory for it
  const std::uint64_t weight_;
  const std::uint64_t id_;     ///< of the actor; 0: none
  const std::uint64_t begin_;  ///< ticks
  const std::uint64_t waited_; ///< ticks that its fiber had been suspended before
  bool spawned_ = false;
  std::uint64_t messages_ = 0;
  std::uint64_t waiting_ = 0; ///< messages when it was resumed
  std::uint64_t mailbox_ = 0; ///< most of these
  std::uint16_t message_ = 0; ///< name of the next one
  std::uint64_t resumed_at_ = 0;
  std::uint64_t resumed_waited_ = 0;
};

/// A turn that has not been picked while somebody watches: it is counted after all if it is long.
class passed_turn {
public:
  passed_turn(const executors::executor& self, const caf::resumable& job) noexcept
    : self_(self),
      key_(actor_types::key_of(job)),
      begin_(self.last_look()),
      waited_(self.running().waited()) {
  }

  /// The turn is over, and with it the actor perhaps, which has handled so many `messages` or more.
  void over(actor_lane& lane, std::uint64_t messages) const noexcept {
    if (lane.is_long(self_.last_look() - begin_)) [[unlikely]]
      was_long(lane, messages);
  }

private:
  void was_long(actor_lane& lane, std::uint64_t messages) const noexcept;

  const executors::executor& self_;
  const void* const key_;      ///< of the actor's type
  const std::uint64_t begin_;  ///< ticks
  const std::uint64_t waited_; ///< ticks that its fiber had been suspended before
};

/// Counts of all executors of a system, of their actors, as long as somebody watches.
class actor_watch {
public:
  /// One for each executor. Before they start.
  explicit actor_watch(std::size_t executors);

  ~actor_watch();

  /// Watches until that many ticks at least. Any thread.
  void until(std::uint64_t ticks) noexcept;

  /// Relaxed: whether a turn is counted that begins now is of no consequence.
  bool is_on() const noexcept {
    return until_.load(std::memory_order_relaxed) != 0;
  }

  /// That of an executor, made by its first call. On that executor, which may keep it.
  /// @returns null where there is no memory
  actor_lane* lane(const executors::executor& self) noexcept;

  /// Ends the watch if its time is over by `present`. @returns whether somebody still watches
  bool goes_on(std::uint64_t present) noexcept {
    return present <= until_.load(std::memory_order_relaxed) || is_prolonged(present);
  }

  /// A turn is about to be counted: as often, a message is timed.
  void time_next() noexcept {
    times_next_.store(true, std::memory_order_relaxed);
  }

  /// Whether the next message from an executor that wakes an actor is to be timed, whichever it is.
  /// Relaxed: a hint.
  bool times_next() const noexcept {
    return times_next_.load(std::memory_order_relaxed);
  }

  /// `job` is about to be queued: notes the time. For messages from executors if times_next(), and
  /// for all others. Any thread.
  void wakes(const caf::resumable& job) noexcept;

  /// Ticks since then, if that was noted; else 0. On the executor that is about to run it.
  std::uint64_t delay_of(const caf::resumable& job, std::uint64_t present) noexcept {
    return probes_.any() ? noted_delay_of(job, present) : 0;
  }

  /// By type, in the order of their names. Any thread.
  std::vector<actor_stats> types();

  /// The busiest first. Any thread.
  std::vector<actor_stats> actors();

private:
  bool is_prolonged(std::uint64_t present) noexcept;
  std::uint64_t noted_delay_of(const caf::resumable& job, std::uint64_t present) noexcept;

  const std::uint64_t
    longest_delay_; ///< ticks; a note that is older belongs to an actor that is gone
  // Written by any thread, read by any, relaxed.
  std::atomic<std::uint64_t> until_{0}; ///< ticks; 0: nobody watches
  std::atomic<std::uint64_t> since_{0}; ///< ticks: notes from before this watch do not count
  std::atomic<bool> times_next_{false};

  // Each written by its executor, release; read by any thread, acquire. A vector of atomics is made
  // at its size.
  std::vector<std::atomic<actor_lane*>> lanes_;
  alignas(64) delay_probes probes_; // many write it, while somebody watches
};

} // namespace basal::actors
