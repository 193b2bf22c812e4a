#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <tuple>

#include <basal/executors/completion.hpp>
#include <basal/executors/detail/assert.hpp>
#include <basal/executors/fwd.hpp>
#include <basal/solver/batch.hpp>
#include <basal/solver/detail/permits.hpp>
#include <basal/solver/detail/plan_cache.hpp>
#include <basal/solver/detail/scratch_pool.hpp>

namespace basal::solver {

/// State shared by all jobs of a batch_solver.
class batch_solver::core {
public:
  core(executors::executor_pool* p, const solver_limits& l)
    : pool(p),
      limits(l),
      gate(l),
      scratch(l.scratch_bytes),
      plans_{l.plan_cache_bytes, l.plan_cache_bytes} {
  }

  /// Ends everything: see ~batch_solver. Once.
  void stop_and_wait() {
    stopping.store(true, std::memory_order_relaxed);
    gate.close();
    executors::completion idle;
    {
      std::lock_guard guard{mutex_};
      if (jobs_ == 0)
        return;
      BASAL_ASSERT(idle_ == nullptr, "a batch solver is stopped once");
      idle_ = &idle;
    }
    idle.wait();
  }

  void job_begins() {
    std::lock_guard guard{mutex_};
    ++jobs_;
  }

  /// The last thing a job does; the core may be gone afterwards.
  void job_ends() {
    executors::completion* idle = nullptr;
    {
      std::lock_guard guard{mutex_};
      BASAL_ASSERT(jobs_ > 0, "a job that ends has begun");
      if (--jobs_ == 0)
        idle = idle_;
    }
    if (idle != nullptr)
      idle->set();
  }

  template <class T>
  plan_cache<T>& plans() noexcept {
    return std::get<plan_cache<T>>(plans_);
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

  shared_counters counters;
  method_counters solves;

private:
  std::tuple<plan_cache<float>, plan_cache<double>> plans_;

  std::mutex mutex_;
  std::size_t jobs_ = 0;
  executors::completion* idle_ = nullptr; ///< of stop_and_wait()
};

} // namespace basal::solver
