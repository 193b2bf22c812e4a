#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/stats.hpp>
#include <basal/posse/detail/forgone_work.hpp>
#include <basal/posse/detail/function_record.hpp>
#include <basal/posse/detail/hand_over_time.hpp>
#include <basal/posse/detail/hatch.hpp>
#include <basal/posse/theft.hpp>

namespace basal::posse::detail {

using executors::counter;

/// The largest value seen. One writer, any reader; relaxed: statistics.
class maximum {
public:
  void raise_to(std::uint64_t value) noexcept {
    if (value > value_.load(std::memory_order_relaxed))
      value_.store(value, std::memory_order_relaxed);
  }

  std::uint64_t get() const noexcept {
    return value_.load(std::memory_order_relaxed);
  }

private:
  std::atomic<std::uint64_t> value_{0};
};

/// Counters of one declared function on one executor.
struct function_cells {
  counter calls, offloaded, failed, forks, thefts, merges, quanta, busy_ticks;
};

/// Counters of one executor. Written on its thread alone, so that counting is a load and a store in
/// a cache line of its own; read by any thread.
struct alignas(64) executor_cells {
  hatch way_in; ///< of a compute executor; in a line that victims write

  alignas(64) counter computations, computations_ended, forks;

  // Quantum ends and thefts.
  counter quanta, yields, thefts, seamless_thefts;
  by_theft_verdict<counter> verdicts;

  // Delegates and merges.
  counter merges, failed_merges, taken_back, merge_waits, merge_waits_ended, suspended_ticks;

  counter cancelled, over_limit, failed;
  maximum deepest_stack;

  forgone_work forgone;     ///< its executor's alone
  hand_over_time hand_over; ///< the same

  /// The cells of the function with that number.
  function_cells& of(std::uint32_t number) noexcept {
    BASAL_ASSERT(number < functions_.size(), "a function's number is below max_functions");
    if (auto* known = functions_[number].load(std::memory_order_relaxed)) [[likely]]
      return *known;
    return add(number);
  }

  /// Null where this executor has not run it. Any thread.
  const function_cells* find(std::uint32_t number) const noexcept {
    return functions_[number].load(std::memory_order_acquire);
  }

  /// True one time in eight, by chance: for what is too dear to do each time. Its executor alone.
  bool one_in_eight() noexcept {
    chance_ = chance_ * 1664525 + 1013904223; // Numerical Recipes: the upper bits are the good ones
    return chance_ >> 29 == 0;
  }

  executor_cells() = default;
  executor_cells(const executor_cells&) = delete;
  executor_cells& operator=(const executor_cells&) = delete;
  ~executor_cells();

private:
  [[gnu::noinline, gnu::cold]] function_cells& add(std::uint32_t number) noexcept;

  std::uint32_t chance_ = 0;

  /// For undeclared functions, and where memory is short.
  function_cells others_;

  /// Filled by the owner in release, as its functions run for the first time.
  std::array<std::atomic<function_cells*>, function_record::max_functions> functions_{};
};

} // namespace basal::posse::detail
