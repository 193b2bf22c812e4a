#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/hand_over.hpp>
#include <basal/priority/fwd.hpp>
#include <basal/priority/level.hpp>
#include <basal/priority/task_key.hpp>

namespace basal::priority {

/// State of a task. queued -> running -> done or failed; or queued -> cancelled or discarded. The
/// last four are final.
enum class task_state : std::uint8_t {
  queued,
  running,
  done,
  failed,    ///< it threw
  cancelled, ///< by its handle, before it began
  discarded, ///< by its pool's shutdown, before it began
};

} // namespace basal::priority

namespace basal::priority::detail {

/// Goes to whoever first takes it out of `queued`, once: what tasks have in
/// common with tests that run under a controlled scheduler.
template <template <class> class Atomic = std::atomic>
class basic_task_word {
public:
  task_state get() const noexcept {
    return static_cast<task_state>(word_.load(std::memory_order_acquire));
  }

  /// From `queued` to `to`. @returns false when somebody else was first.
  bool claim(task_state to) noexcept {
    BASAL_ASSERT(to != task_state::queued, "who claims a task takes it out of the queue");
    auto expected = static_cast<std::uint32_t>(task_state::queued);
    return word_.compare_exchange_strong(expected, static_cast<std::uint32_t>(to),
                                         std::memory_order_acq_rel, std::memory_order_acquire);
  }

  /// From `running` to `to`. Release: publishes the result.
  void finish(task_state to) noexcept {
    BASAL_ASSERT(to == task_state::done || to == task_state::failed, "a task that ran has ended");
    word_.store(static_cast<std::uint32_t>(to), std::memory_order_release);
  }

private:
  Atomic<std::uint32_t> word_{static_cast<std::uint32_t>(task_state::queued)};
};

/// A function call on its way through a pool, whose references are the queue's
/// and the handle's.
class task : public executors::detached_work {
public:
  task(background_pool& host, task_key type, level at) noexcept
    : host_(host), type_(type), level_(static_cast<std::uint8_t>(place_of(at))) {
  }

  background_pool& host() const noexcept {
    return host_;
  }

  task_key type() const noexcept {
    return type_;
  }

  task_state state() const noexcept {
    return word_.get();
  }

  /// Place of its level in named_levels.
  std::size_t level_place() const noexcept {
    return level_;
  }

  /// The slot of waiting_ages while it is in the queue. Written before it is queued.
  std::uint8_t waits_in = 0;

  /// Runs the function unless it was cancelled, and keeps what comes of it.
  /// @param self the executor that took it from a queue; null: its submitter
  /// @returns the state afterwards. If the function ran, announce() must follow.
  task_state run_unless_cancelled(executors::executor* self) noexcept;

  /// Ends it unrun; announce() must follow. @returns false, and nothing must
  /// follow, if it has begun or ended.
  bool end_unrun(task_state how) noexcept;

  /// After the end. @throws the exception for a waiter if it did not run
  void expect_run() const;

private:
  background_pool& host_;
  const task_key type_;
  const std::uint8_t level_;
  basic_task_word<> word_;
};

/// Results are values: of a function that returns a reference a copy is kept.
template <class Function>
using task_result_t = std::decay_t<std::invoke_result_t<Function&>>;

template <class T>
using task_with_result = executors::detached_result<task, T>;

template <class Function>
using task_of = executors::detached_call<task, Function, task_result_t<Function>>;

} // namespace basal::priority::detail
