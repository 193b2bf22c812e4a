#pragma once

#include <chrono>
#include <cstddef>

#include <basal/executors/config.hpp>
#include <basal/posse/detail/theft_event.hpp>
#include <basal/posse/fwd.hpp>
#include <basal/posse/theft.hpp>

namespace basal::posse {

/// How to build a runtime. Every field has a default that works.
struct runtime_config {
  /// Executors for stolen continuations, offloaded computations and background
  /// work: 1 to executors::pool_config::max_executors.
  std::size_t compute_executors = executors::usable_cpus();

  /// The time slice after which a computation lets waiting work have its turn,
  /// and, by hysteresis::quantum, the age a right continuation must reach before it
  /// can be stolen: 50 us to 10 ms. Members look about eight times as often whether
  /// somebody is idle.
  std::chrono::nanoseconds quantum = std::chrono::microseconds{200};

  /// For how long a compute executor that has done its part of a computation waits for the next,
  /// awake and at hand, before it looks for other work and sleeps: some of the times that pass
  /// between loops in a row. It begins the next part sooner then, and to others that look for an
  /// idle executor there is none meanwhile. 0: not at all. By hysteresis::worth alone.
  std::chrono::nanoseconds stay = std::chrono::microseconds{10};

  /// Usable bytes of each fiber's stack, which bounds the depth of recursion.
  std::size_t stack_bytes = executors::pool_config::default_stack_bytes;

  /// Which CPU each executor keeps to.
  executors::pinning pin = executors::pinning::none;

  /// Whether its executors keep a flight recording (executors::recorder).
  bool record = true;

  /// Called first on the thread of each compute executor; null: nothing is. For
  /// what a library keeps for each thread.
  void (*thread_starts)(void* thread_context, executors::executor& self) noexcept = nullptr;

  /// The argument of `thread_starts`.
  void* thread_context = nullptr;

  /// For tests: see executors::simulation. In stepped mode, computations must be started by work
  /// that is submitted to compute().
  executors::simulation simulate{};

  /// Executors that may work on one computation, the one it began on included;
  /// 0: all. A call may ask for another limit.
  std::size_t cabal_limit = 0;

  /// Bytes that one computation may use on one executor: its stacks and what it
  /// allocates through member::memory(); and, times the executors that work for it,
  /// keep in the collected heap. 0: no limit. A call may ask for another.
  std::size_t memory_limit = 0;

  /// When a right continuation may be stolen.
  hysteresis steal_by = hysteresis::worth;

  /// The assumed costs of a theft, for that rule.
  theft_costs costs = {};

  /// Can be changed while the runtime runs: runtime::set_victims().
  victim_policy victims = victim_policy::run_victim;

  /// The function that is told of each theft, for traces and tests.
  theft_observer thefts = {};

  /// The range of `quantum`.
  /// @{
  static constexpr std::chrono::nanoseconds min_quantum = std::chrono::microseconds{50};
  static constexpr std::chrono::nanoseconds max_quantum = std::chrono::milliseconds{10};
  /// @}

  /// @throws std::invalid_argument naming the field, its value and its range.
  void validate() const;

  /// A pool of executors like these: `compute_executors` of them, without a name of their own and
  /// without hooks. The fields of a pool are copied from here in this function and nowhere else.
  executors::pool_config pool() const;
};

} // namespace basal::posse
