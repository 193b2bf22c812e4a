#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include <basal/executors/fwd.hpp>
#include <basal/solver/batch.hpp>
#include <basal/solver/permits.hpp>
#include <basal/solver/scratch_pool.hpp>

namespace basal::solver {

/// What all jobs of a batch_solver share.
class batch_solver::core {
public:
  core(executors::executor_pool* p, const solver_limits& l)
    : pool(p), limits(l), gate(l), scratch(l.scratch_bytes) {
  }

  /// Ends everything: see ~batch_solver.
  void stop_and_wait() {
    stopping.store(true, std::memory_order_relaxed);
    gate.close();
    std::unique_lock guard{mutex_};
    idle_.wait(guard, [this] { return jobs_ == 0; });
  }

  void job_begins() {
    std::lock_guard guard{mutex_};
    ++jobs_;
  }

  /// The last thing a job does; the core may be gone afterwards. So whoever waits is
  /// notified before the mutex is free.
  void job_ends() {
    std::lock_guard guard{mutex_};
    if (--jobs_ == 0)
      idle_.notify_all();
  }

  executors::executor_pool* const pool; ///< null: on the calling thread
  const solver_limits limits;
  permits gate;
  scratch_pool scratch;
  event_bus events;

  /// Set once, read between ticks. Relaxed: it only has to arrive.
  std::atomic<bool> stopping{false};

  // Relaxed: numbers, which publish nothing.
  std::atomic<std::uint64_t> last_solve{0};
  std::atomic<std::uint64_t> last_batch{0};

  struct {
    shared_counter completed, converged, stalled, diverged, exhausted, failed, rejected, timed_out,
      cancelled, batches, ticks, neumann_terms, walks, latency_ns, blocks, nested;
  } counters;

private:
  std::mutex mutex_;
  std::condition_variable idle_;
  std::size_t jobs_ = 0;
};

} // namespace basal::solver
