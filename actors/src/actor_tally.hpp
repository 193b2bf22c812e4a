#pragma once

#include <basal/executors/detail/time_buckets.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace basal::actors {

using executors::time_buckets;

/// Counts of one thread, which any other may read. Stores are releases and loads acquires for the
/// sake of basic_busiest, whose readers tell by them whose the counts are.
template <template <class> class Atomic>
struct basic_actor_tally {
  using number = Atomic<std::uint64_t>;

  /// Writer only.
  static void add(number& to, std::uint64_t n) noexcept {
    to.store(to.load(std::memory_order_relaxed) + n, std::memory_order_release);
  }

  struct times {
    number sum_ns{0};
    std::array<number, time_buckets::size> buckets{};

    /// Writer only. @param n so many took `ns` each
    void add(std::uint64_t ns, std::uint64_t n) noexcept {
      basic_actor_tally::add(sum_ns, ns * n);
      basic_actor_tally::add(buckets[time_buckets::of(ns)], n);
    }
  };

  number turns{0};
  number messages{0};
  number spawned{0};
  number ended{0};
  number busy_ticks{0};
  number mailbox{0};
  number longest_ns{0};
  number longest_message{0}; ///< number of its name in record_names
  times handlers;
  times delays;

  /// Of the numbers that for_each visits.
  static constexpr std::size_t count = 10 + 2 * time_buckets::size;

  /// Calls `visit` with each number. Writer or any thread, by what `visit` does.
  template <class Visit>
  void for_each(Visit visit) {
    for (auto* one : {&turns, &messages, &spawned, &ended, &busy_ticks, &mailbox, &longest_ns,
                      &longest_message, &handlers.sum_ns, &delays.sum_ns})
      visit(*one);
    for (auto* all : {&handlers.buckets, &delays.buckets})
      for (auto& one : *all)
        visit(one);
  }

  /// Writer only: `waiting` messages were there at a turn. The most of late: it goes down by an
  /// eighth a turn.
  void see_mailbox(std::uint64_t waiting) noexcept {
    const auto before = mailbox.load(std::memory_order_relaxed);
    mailbox.store(std::max(waiting, before - (before + 7) / 8), std::memory_order_release);
  }

  /// Writer only.
  void see_handler(std::uint64_t ns, std::uint64_t n, std::uint64_t message) noexcept {
    handlers.add(ns, n);
    if (ns < longest_ns.load(std::memory_order_relaxed))
      return;
    longest_ns.store(ns, std::memory_order_release);
    longest_message.store(message, std::memory_order_release);
  }
};

using actor_tally = basic_actor_tally<std::atomic>;

} // namespace basal::actors
