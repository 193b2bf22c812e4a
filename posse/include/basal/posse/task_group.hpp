#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <basal/executors/executor.hpp>
#include <basal/posse/detail/delegation.hpp>
#include <basal/posse/detail/right_continuation.hpp>
#include <basal/posse/detail/task_list.hpp>
#include <basal/posse/fwd.hpp>
#include <basal/posse/member.hpp>
#include <basal/posse/pure.hpp>

namespace basal::posse {

class task_group;

namespace detail {

/// Throws the std::logic_error of a group that is used by others than the body of its scope.
[[noreturn]] void refuse_foreign_group();

} // namespace detail

/// A type that may be spawned: it takes the member that runs it, or the group that it may spawn
/// into, or nothing.
template <class Task>
concept spawnable = detail::branch<Task> || std::is_invocable_v<Task&, task_group&>;

/// Tasks that are spawned into a scope, as many as turn out to be needed; see
/// `task_scope`. They begin when the scope's body waits or ends, in the order in
/// which they were spawned, and what a task spawns is done before the next one
/// begins. So one thread does them in one order, the sequential one, and of a
/// tree of tasks it holds the siblings of one path.
///
/// While the tasks of a group are done, one node in the member's list stands for
/// those that have not begun. The most basal node is stolen first, as always:
/// that of the oldest group. The thief takes the later half of its tasks, or all
/// if the member has been busy with one for a quantum, and does with them as the
/// member does with the others. Nobody blocks a thread: who waits for a thief is
/// suspended, and its executor runs other work.
///
/// A group belongs to the body of its scope, and to its thread: branches, which others may steal,
/// must not use it, and a task that spawns takes a group of its own.
class task_group {
public:
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;

  /// Tasks that wait in a group at most: with that number waiting, spawn() does them.
  static constexpr std::size_t most_waiting = 4096;

  /// Adds a task: `task(member&)`, `task()`, or `task(task_group&)`, whose argument is a group of
  /// its own to spawn into. The task is moved or copied to memory that does not count towards a
  /// limit, and destroyed when it has run. Its return value is dropped: a task puts its result
  /// where no other one reads or writes before wait() returns or the scope ends. Objects that it
  /// refers to must live until then.
  /// @throws std::logic_error in a task of this group, or on another thread than its scope's, as in
  ///         a branch that was stolen
  /// @throws std::bad_alloc; any exception of wait(), where it does the tasks
  template <class Task>
  void spawn(Task&& task) {
    using kind = std::decay_t<Task>;
    static_assert(spawnable<kind>,
                  "a task takes the member that runs it, or a group to spawn into, as a "
                  "reference, or nothing: tasks.spawn([&](basal::posse::member& m) { ... })");
    expect_body();
    if constexpr (spawnable<kind>) {
      if (waiting_.size() == most_waiting)
        wait();
      waiting_.push_back(std::make_unique<task_of<kind>>(std::in_place, std::forward<Task>(task)));
    }
  }

  /// Does the tasks that have not begun, and returns when they and all that they
  /// spawned are done. More may be spawned afterwards.
  /// @throws the first exception in the sequential order: later tasks are dropped,
  ///         or cancelled and awaited where they were stolen; cancelled,
  ///         memory_limit_exceeded; std::logic_error, see spawn()
  void wait() {
    expect_body();
    const flag_guard runs{runs_tasks_};
    auto tasks = std::move(waiting_);
    run(member_, tasks);
  }

  /// The member that runs the body, for forks, algorithms and safepoints.
  posse::member& member() const noexcept {
    return member_;
  }

  /// For task_scope.
  explicit task_group(posse::member& m) noexcept : member_(m) {
  }

private:
  struct flag_guard {
    explicit flag_guard(bool& x) noexcept : flag(x) {
      flag = true;
    }

    flag_guard(const flag_guard&) = delete;
    flag_guard& operator=(const flag_guard&) = delete;

    ~flag_guard() {
      flag = false;
    }

    bool& flag;
  };

  /// Where a task spawned into the group that it is of, nobody would run what it spawned.
  void expect_body() const {
    if (executors::executor::current() != &member_.executor() || runs_tasks_) [[unlikely]]
      detail::refuse_foreign_group();
  }

  template <class Task>
  class task_of final : public detail::any_task {
  public:
    template <class From>
    task_of(std::in_place_t, From&& from) : task_(std::forward<From>(from)) {
    }

    void run(posse::member& m) override {
      if constexpr (detail::branch<Task>) {
        detail::invoke_branch(task_, m);
      } else {
        task_group spawned{m};
        task_(spawned);
        spawned.wait();
      }
    }

  private:
    Task task_;
  };

  /// The tasks that a thief takes: the victim's list no longer owns them, and their runner owns
  /// them from then on.
  struct taken_tasks {
    detail::any_task* first = nullptr;
    std::size_t count = 0;

    detail::task_list release() noexcept {
      return {std::exchange(first, nullptr), std::exchange(count, 0)};
    }

    void operator()(posse::member& m) {
      auto tasks = release();
      run(m, tasks);
    }
  };

  /// The tasks of a list that have not begun, at least one.
  class rest : public right_continuation {
  public:
    rest(posse::member& m, const detail::task_list& tasks) noexcept
      : right_continuation(m.youngest_, ops), member_(m), tasks_(tasks) {
    }

    /// After the merge. Tasks that were taken back when a task failed have not run.
    ~rest() {
      if (is_taken())
        taken_.release();
    }

    rest(const rest&) = delete;
    rest& operator=(const rest&) = delete;

    /// The task before them begins.
    void pass() noexcept {
      begun_in_ = member_.quantum_;
    }

    /// The tasks that a thief left, after it took the others.
    std::size_t kept() const noexcept {
      return kept_;
    }

  private:
    // The last of `parts` parts of them, unless the task at hand has lasted for a
    // whole quantum: then those that are kept might wait long for its end, and the
    // thief takes all. The node may stay untaken after this, and be asked again later.
    static detail::delegation* delegate(right_continuation& self, detail::computation& origin,
                                        division how) noexcept {
      auto& r = static_cast<rest&>(self);
      const auto size = r.tasks_.size();
      r.kept_
        = r.member_.quantum_ - r.begun_in_ <= 1 ? size - (size + how.parts - 1) / how.parts : 0;
      r.taken_ = {r.tasks_.at(r.kept_), r.tasks_.size() - r.kept_};
      return new (std::nothrow) detail::typed_delegation<taken_tasks>(origin, r.taken_);
    }

    static constexpr operations ops{&delegate, nullptr};

    posse::member& member_;
    const detail::task_list& tasks_;
    std::uint32_t begun_in_ = 0; ///< the member's quantum
    std::size_t kept_ = 0;
    taken_tasks taken_{};
  };

  /// The node's frame is left early: the other tasks are not wanted.
  struct unwinding_guard {
    posse::member& self;
    rest& node;
    detail::task_list& tasks;
    bool armed = true;

    ~unwinding_guard() {
      if (!armed)
        return;
      if (node.is_taken())
        tasks.shorten_to(std::min(node.kept(), tasks.size()));
      self.abandon();
    }
  };

  /// Does the tasks of a list, in order.
  static void run(posse::member& m, detail::task_list& tasks) {
    if (tasks.size() > 1) {
      rest node{m, tasks};
      unwinding_guard guard{m, node, tasks};
      m.youngest_ = &node;
      do {
        auto next = tasks.pop_front();
        node.pass();
        m.poll();
        next->run(m);
      } while (tasks.size() > 1 && !node.is_taken());
      if (node.is_taken()) {
        tasks.shorten_to(node.kept());
        run(m, tasks); // with a node of their own
        guard.armed = false;
        merge(m, node);
        return;
      }
      guard.armed = false;
      m.youngest_ = node.older();
    }
    if (tasks.size() == 1) { // without a node: what it forks is the next to be stolen
      auto last = tasks.pop_front();
      m.poll();
      last->run(m);
    }
  }

  /// Waits for the thief.
  static void merge(posse::member& m, rest& node) {
    m.youngest_ = node.older();
    m.await_merge(node);
    const std::unique_ptr<detail::delegation> merged{node.delegation};
    if (merged->error)
      std::rethrow_exception(std::move(merged->error));
  }

  posse::member& member_;
  detail::task_list waiting_;
  bool runs_tasks_ = false; ///< its scope's thread alone looks at it
};

namespace detail {

struct task_scope_function {
  template <class Body>
  auto operator()(member& m, Body&& body) const {
    static_assert(std::is_invocable_v<Body&, task_group&>,
                  "the body of a task scope takes the group that it spawns into, as a reference: "
                  "task_scope(m, [&](basal::posse::task_group& tasks) { ... })");
    if constexpr (std::is_invocable_v<Body&, task_group&>) {
      task_group tasks{m};
      if constexpr (std::is_void_v<std::invoke_result_t<Body&, task_group&>>) {
        body(tasks);
        tasks.wait();
      } else {
        auto result = body(tasks);
        tasks.wait();
        return result;
      }
    }
  }
};

} // namespace detail

/// `task_scope(where, body)`: calls `body(task_group&)`, does what it spawned, and
/// returns what it returned. `where` is a member, a runtime or an actor's `self`,
/// see `pure`. All tasks have ended when the scope does, in an exception, too: the
/// body's drops tasks that have not begun, else the first of the tasks' in the
/// sequential order comes out.
///
///     task_scope(self, [&](task_group& tasks) {
///       for (auto& part : parts)
///         tasks.spawn([&part] { part.result = work(part); });
///     });
inline constexpr pure<detail::task_scope_function{}> task_scope{"task_scope"};

} // namespace basal::posse
