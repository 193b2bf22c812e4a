#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <basal/executors/detail/background_source.hpp>
#include <basal/executors/executor_pool.hpp>
#include <basal/priority/config.hpp>
#include <basal/priority/detail/task.hpp>
#include <basal/priority/errors.hpp>
#include <basal/priority/fwd.hpp>
#include <basal/priority/level.hpp>
#include <basal/priority/stats.hpp>
#include <basal/priority/task_handle.hpp>
#include <basal/priority/task_key.hpp>

namespace basal::priority {

/// How to order one task.
struct task_options {
  level at = level::normal; ///< how urgent it is
  task_key type = {};       ///< for the estimate of its runtime
};

/// Background work on an executor pool, in the order that keeps people waiting
/// least: urgent levels first, short tasks first within a level, and nothing
/// waits for ever. Executors take a task when they have nothing else to run: on
/// the compute executors, delegates and offloaded handlers go first.
///
/// A task runs to its end on the executor that took it. It may call whatever a
/// handler on that executor may, wait for other tasks, and submit more.
///
/// There is one per executor pool, built when somebody first asks for it, and it
/// lives as long. Members may be called from any thread.
class background_pool final : public executors::background_source {
public:
  /// The background work of `executors`; built with the defaults if there is
  /// none yet.
  /// @throws std::logic_error when `executors` was stopped
  static background_pool& of(executors::executor_pool& executors);

  /// Builds it with settings of one's own, before anybody else asks for it.
  /// @throws std::invalid_argument see background_config::validate
  /// @throws std::logic_error when there is one already, or `executors` was
  ///         stopped
  static background_pool& build(executors::executor_pool& executors, background_config config);

  background_pool(const background_pool&) = delete;
  background_pool& operator=(const background_pool&) = delete;
  ~background_pool() override;

  /// Queues `function()`. When the queue is full: see full_policy.
  /// @returns a task_handle for what the function returns
  /// @throws pool_closed, queue_full, std::bad_alloc; it will not run then
  template <class Function>
  auto submit(task_options options, Function&& function) {
    auto [t, handle] = make(options, std::forward<Function>(function));
    enqueue(std::move(t), options);
    return std::move(handle);
  }

  /// Queues `function()` at level::normal, without a type.
  template <class Function>
  auto submit(Function&& function) {
    return submit(task_options{}, std::forward<Function>(function));
  }

  /// Queues `function()` for nobody to wait for. If it throws, that is counted
  /// (background_stats::failed) and forgotten.
  /// @throws as submit()
  template <class Function>
  void post(task_options options, Function&& function) {
    std::ignore = submit(options, std::forward<Function>(function));
  }

  /// Queues `function()` if there is room now, whatever the policy.
  /// @returns an empty handle if there is none, or if the pool is closed
  template <class Function>
  auto try_submit(task_options options, Function&& function) {
    auto [t, handle] = make(options, std::forward<Function>(function));
    if (!try_enqueue(std::move(t), options))
      handle = {};
    return std::move(handle);
  }

  /// Like submit(), for what an evaluation starts: while fewer than two
  /// evaluations are active nobody competes, so the task goes past the queue, to
  /// the executors' own, among the offloaded handlers. Its runtime is recorded
  /// either way. See evaluation and route.
  template <class Function>
  auto spawn(task_options options, Function&& function) {
    auto [t, handle] = make(options, std::forward<Function>(function));
    if (goes_plain())
      enqueue_plain(std::move(t));
    else
      enqueue(std::move(t), options);
    return std::move(handle);
  }

  /// Takes no more tasks; then waits until the queued ones have run (drain), or ends them unrun
  /// (discard) and waits for those that have begun. A submitter that waits for room is told
  /// pool_closed. When `patience` has passed, tasks that are still queued are discarded, and this
  /// returns. Never hangs; not much use inside a task of this pool, which waits for itself until
  /// then. May be called again, and by several threads at once.
  shutdown_report shutdown(executors::stop_mode mode, std::chrono::nanoseconds patience);

  /// The key that a task submitted now would get; less comes first. In levels.
  double key_now(task_options options) const noexcept;

  /// Tasks in the queue: a snapshot.
  std::size_t queued() const noexcept;

  /// The statistics of runtimes. Also to record some from elsewhere.
  runtime_tracker& runtimes() noexcept;

  /// The configuration that the pool was made with. Constant.
  const background_config& config() const noexcept;

  /// The executors that run the tasks.
  executors::executor_pool& executors() const noexcept;

  /// The counts so far. Any thread.
  background_stats stats() const;

private:
  friend class evaluation;

  struct parts;
  struct door_entry;

  /// The pool's reference to a task, until the queue has it.
  using owned_task = executors::work_reference<detail::task>;

  background_pool(executors::executor_pool& executors, background_config config);

  template <class Function>
  auto make(task_options options, Function&& function) {
    using result = detail::task_result_t<std::decay_t<Function>>;
    auto* t = new detail::task_of<std::decay_t<Function>>(std::forward<Function>(function), *this,
                                                          options.type, options.at);
    owned_task owner{t};
    return std::pair{std::move(owner), task_handle<result>{*t}};
  }

  void enqueue(owned_task t, task_options options);
  bool try_enqueue(owned_task t, task_options options);
  void enqueue_plain(owned_task t);
  bool goes_plain() const noexcept;
  bool push(detail::task& t, double key, std::uint64_t now);
  void leave_queue(detail::task& t) noexcept;
  void enqueue_full(detail::task& t, double key, std::uint64_t now);
  void wait_for_room(detail::task& t, double key);
  void admit_waiting() noexcept;
  void remove_cancelled() noexcept;
  void run_task(detail::task& t, executors::executor* self) noexcept;
  void discard_task(detail::task& t) noexcept;
  void let_go(detail::task& t) noexcept;
  void leave() noexcept;
  std::size_t discard_queued() noexcept;

  static const executors::work_ops ops_;

  // -- as background_source ---------------------------------------------------
  executors::work_item take(executors::executor& self) noexcept override;
  bool empty() const noexcept override;
  void close() noexcept override;
  void abandon() noexcept override;

  const std::unique_ptr<parts> parts_;
};

} // namespace basal::priority
