#pragma once

#include <atomic>
#include <cstdint>

namespace basal::executors {

/// A counter with one writer and any number of readers. Relaxed: statistics,
/// nobody acts on it.
class counter {
public:
  /// On the writer's thread alone.
  void add(std::uint64_t n = 1) noexcept {
    // One writer, so no read-modify-write is needed.
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }

  /// Any thread; relaxed.
  std::uint64_t get() const noexcept {
    return value_.load(std::memory_order_relaxed);
  }

private:
  std::atomic<std::uint64_t> value_{0};
};

/// Counts of one executor so far; a snapshot whose fields may be a few events apart. All counts
/// since the start.
struct executor_stats {
  std::uint64_t tasks_run = 0;         ///< items taken from any queue and run
  std::uint64_t tasks_stolen = 0;      ///< of these, taken from other rings
  std::uint64_t lifo_hits = 0;         ///< of these, from the newest-first slot
  std::uint64_t injection_hits = 0;    ///< of these, from the injection queue
  std::uint64_t deliveries = 0;        ///< of these, addressed to this executor
  std::uint64_t injection_batches = 0; ///< visits that these came with
  std::uint64_t background_tasks = 0;  ///< of those run, from the pool's background source
  std::uint64_t background_turns = 0;  ///< of these, taken because they had waited too long
  std::uint64_t times_parked = 0;      ///< went to sleep
  std::uint64_t wake_ups = 0;          ///< of these, woken in the kernel
  std::uint64_t spin_wake_ups = 0;     ///< of these, woken while it still spun
  std::uint64_t overflows = 0;         ///< times the ring or its newborns spilled over
  std::uint64_t fibers_created = 0;    ///< stacks taken for suspended work
  std::uint64_t suspensions = 0;       ///< times running work was suspended
  std::uint64_t overruns = 0;          ///< times work ran on for more than a quantum without a look
  std::uint64_t overrun_quanta = 0;    ///< the whole quanta in these
  std::uint64_t quantum_ends = 0;      ///< times work stepped aside, its quantum being over
  std::uint64_t running_ns = 0;        ///< time that its thread ran work or looked through queues
  std::uint64_t looking_ns = 0;        ///< time that it spun for work that might come soon
  std::uint64_t parked_ns = 0;         ///< time that it slept in the kernel
  std::uint64_t load_permille = 0;     ///< share of its time spent running, now: load_average
  std::uint64_t waiting_now = 0;       ///< items in its ring and its newest-first slot

  friend bool operator==(const executor_stats&, const executor_stats&) = default;
};

} // namespace basal::executors
