#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include <basal/priority/detail/event.hpp>
#include <basal/priority/fwd.hpp>
#include <basal/priority/task_key.hpp>

namespace basal::priority {

/// Where a task stands. queued -> running -> done or failed; or queued ->
/// cancelled or discarded. The last four are final.
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
    auto expected = static_cast<std::uint32_t>(task_state::queued);
    return word_.compare_exchange_strong(expected, static_cast<std::uint32_t>(to),
                                         std::memory_order_acq_rel, std::memory_order_acquire);
  }

  /// From `running` to `to`. Release: publishes the result.
  void finish(task_state to) noexcept {
    word_.store(static_cast<std::uint32_t>(to), std::memory_order_release);
  }

private:
  Atomic<std::uint32_t> word_{static_cast<std::uint32_t>(task_state::queued)};
};

/// A function call on its way through a pool, and what became of it. Shared by
/// the queue and the handle, each of which holds a reference.
class task {
public:
  task(background_pool& host, task_key type) noexcept : host_(host), type_(type) {
  }

  task(const task&) = delete;
  task& operator=(const task&) = delete;

  background_pool& host() const noexcept {
    return host_;
  }

  task_key type() const noexcept {
    return type_;
  }

  task_state state() const noexcept {
    return word_.get();
  }

  event& finished() noexcept {
    return finished_;
  }

  /// Runs the function unless it was cancelled, and keeps what comes of it.
  /// @returns the state afterwards. If the function ran, announce() must follow.
  task_state run() noexcept;

  /// Ends it unrun; announce() must follow. @returns false, and nothing must
  /// follow, if it has begun or ended.
  bool end_unrun(task_state how) noexcept;

  /// Tells those who wait.
  void announce() noexcept {
    finished_.set();
  }

  /// Throws what a waiter must be told; nothing when it is done. After the end.
  void rethrow() const;

  void release() noexcept {
    // Acquire for the last one, which destroys what the others have written.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete this;
  }

protected:
  virtual ~task() = default;

  /// Calls the function and keeps its result. May throw.
  virtual void invoke() = 0;

  /// Destroys the function, so that what it holds is not kept by a handle.
  virtual void forget() noexcept = 0;

private:
  background_pool& host_;
  const task_key type_;
  basic_task_word<> word_;
  std::atomic<std::uint32_t> references_{2}; ///< the pool's and the handle's
  event finished_;
  std::exception_ptr error_; ///< written before `word_` says failed
};

template <class T>
class task_with_result : public task {
public:
  using task::task;

  /// After the end, if it is done. Leaves a moved-from value.
  T take() {
    return std::move(*result_);
  }

protected:
  std::optional<T> result_;
};

template <>
class task_with_result<void> : public task {
public:
  using task::task;

  void take() {
  }
};

/// Results are values: of a function that returns a reference a copy is kept.
template <class Function>
using task_result_t = std::decay_t<std::invoke_result_t<Function&>>;

template <class Function>
class task_of final : public task_with_result<task_result_t<Function>> {
public:
  template <class F>
  task_of(background_pool& host, task_key type, F&& function)
    : task_with_result<task_result_t<Function>>(host, type),
      function_(std::in_place, std::forward<F>(function)) {
  }

private:
  void invoke() override {
    if constexpr (std::is_void_v<task_result_t<Function>>)
      std::invoke(*function_);
    else
      this->result_.emplace(std::invoke(*function_));
  }

  void forget() noexcept override {
    function_.reset();
  }

  std::optional<Function> function_;
};

} // namespace basal::priority::detail
