#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include <basal/executors/detail/tick_clock.hpp>
#include <basal/executors/event.hpp>
#include <basal/priority/background_pool.hpp>
#include <basal/priority/detail/gate.hpp>
#include <basal/priority/detail/waiting_ages.hpp>
#include <basal/priority/priority_queue.hpp>
#include <basal/priority/runtime_tracker.hpp>

namespace basal::priority {

/// A submitter that waits because the queue is full; lives in its frame. Under
/// the door's mutex.
struct background_pool::door_entry {
  detail::task& work;
  executors::waiter who;
  std::multimap<double, door_entry*>::iterator at;
  bool admitted = false; ///< the queue has the task, the door has this no more
};

/// The state of a background_pool.
struct background_pool::parts {
  using queue_type = priority_queue<detail::task*>;

  /// Relaxed: statistics.
  using counter = std::atomic<std::uint64_t>;

  struct alignas(64) padded_consumer : queue_type::consumer {
    using queue_type::consumer::consumer;
  };

  /// Counts of the tasks of a level, on cache lines of their own.
  struct level_counters {
    // -- written by submitters --
    alignas(64) counter queued{0}, plain{0}, run_in_caller{0}, rejected{0}, timed_out{0};

    // -- written by executors --
    alignas(64) counter begun{0}, done{0}, failed{0}, cancelled{0}, discarded{0};

    // -- written by both --
    alignas(64) detail::waiting_ages waiting{
      executors::tick_clock::to_ticks(std::chrono::milliseconds{125})};
  };

  parts(executors::executor_pool& pool, const background_config& c)
    : executors(pool),
      config(c),
      runtimes(c.max_types),
      queue({.capacity = c.max_queued,
             .parts = c.strict ? 1 : std::min(pool.size(), queue_shape::most_parts),
             .slack = c.slack}) {
    consumers.reserve(pool.size());
    for (std::size_t i = 0; i < pool.size(); ++i)
      consumers.emplace_back(queue, i);
  }

  /// @param now a time of the tick_clock
  double key(task_options options, std::uint64_t now) const noexcept {
    const auto ticks = static_cast<double>(now - epoch);
    return config.order.key(options.at, runtimes.estimate_s(options.type), ticks * seconds_a_tick);
  }

  /// Those of the task's level.
  level_counters& counts_of(const detail::task& t) noexcept {
    return levels[t.level_place()];
  }

  executors::executor_pool& executors;
  const background_config config;
  const std::uint64_t epoch = executors::tick_clock::now();
  const double seconds_a_tick = 1e-9 / executors::tick_clock::per_nanosecond();

  runtime_tracker runtimes;
  queue_type queue;
  std::vector<padded_consumer> consumers; ///< one an executor, used on its thread

  /// A task is inside from before it is queued until all is done with it; so is
  /// a submitter that waits for room.
  detail::gate life;
  executors::event all_ended; ///< closed and nothing inside
  /// Written by shutdown() before it empties the queue. Relaxed: who misses it
  /// runs a task that was accepted.
  std::atomic<bool> discarding{false};

  /// Submitters that wait for room, the most urgent first. `waiting` is the size, written under the
  /// mutex. A consumer that reads 0 after a pop misses nobody: a submitter that waits has looked
  /// for room after the size was written, under the lock of every part; so this pop came before and
  /// left the room that the submitter found.
  std::mutex door_mutex;
  std::multimap<double, door_entry*> door;
  std::atomic<std::size_t> waiting{0};

  /// Full queues that are not searched for cancelled tasks: see
  /// remove_cancelled().
  std::atomic<std::size_t> full_unsearched{0};

  /// By place in named_levels.
  std::array<level_counters, named_levels.size()> levels;

  // -- written by submitters --
  alignas(64) counter waited_for_room{0};
  std::atomic<std::size_t> evaluations{0};
};

} // namespace basal::priority
