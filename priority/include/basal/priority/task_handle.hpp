#pragma once

#include <chrono>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <basal/executors/event.hpp>
#include <basal/priority/detail/task.hpp>

namespace basal::priority {

/// The result, some day, of a task that was submitted to a background_pool.
/// Like std::future: moved, not copied, and used by one thread at a time. Unlike
/// it, waiting on an executor suspends the calling fiber and not the thread,
/// and a task that has not begun can be cancelled.
///
/// Dropping a handle lets its task run; nobody learns of its result then.
template <class T>
class [[nodiscard]] task_handle {
public:
  /// Of no task. Every member but valid() throws std::logic_error.
  task_handle() noexcept = default;

  /// Whether there is a task. Not after its result was taken.
  bool valid() const noexcept {
    return task_ != nullptr;
  }

  /// The state of the task; it may have gone on when this returns.
  task_state state() const {
    return checked().state();
  }

  /// Whether get() would return or throw at once.
  bool is_ready() const {
    return checked().finished().is_set();
  }

  /// Waits for the end, however it comes.
  void wait() const {
    checked().finished().wait();
  }

  /// @returns whether it has ended.
  template <class Rep, class Period>
  bool wait_for(std::chrono::duration<Rep, Period> limit) const {
    return wait_until(executors::deadline_after(limit));
  }

  /// The same until a point in time. @returns whether it has ended.
  bool wait_until(std::chrono::steady_clock::time_point deadline) const {
    return checked().finished().wait_until(deadline);
  }

  /// Waits for the end and takes the result, once; the handle is empty then.
  /// @throws the task's exception; task_cancelled, task_discarded
  T get() {
    wait();
    return take();
  }

  /// The result, like get(), if the task has ended; else nothing, and the handle
  /// stays as it is. For tasks without a result: whether it has ended.
  auto try_get() {
    using answer = std::conditional_t<std::is_void_v<T>, bool,
                                      std::optional<std::conditional_t<std::is_void_v<T>, int, T>>>;
    if (!is_ready())
      return answer{};
    if constexpr (std::is_void_v<T>) {
      take();
      return true;
    } else {
      return answer{take()};
    }
  }

  /// Keeps the task from running, unless it has begun. Its function is released at once.
  /// @returns whether it will not run, now or because of an earlier call.
  bool cancel() {
    // Touches nothing of the pool, which may be gone.
    auto& t = checked();
    if (!t.end_unrun(task_state::cancelled))
      return t.state() == task_state::cancelled;
    t.announce();
    return true;
  }

private:
  friend class background_pool;

  /// Takes over the handle's reference.
  explicit task_handle(detail::task_with_result<T>& t) noexcept : task_(&t) {
  }

  detail::task_with_result<T>& checked() const {
    if (task_ == nullptr)
      throw std::logic_error("basal: this task_handle has no task: it was never given one, was "
                             "moved from, or its result was taken");
    return *task_;
  }

  T take() {
    // Emptied in any case, as std::future is.
    const auto ended = std::move(task_);
    ended->expect_run();
    return ended->take();
  }

  executors::work_reference<detail::task_with_result<T>> task_;
};

} // namespace basal::priority
