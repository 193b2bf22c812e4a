#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <basal/executors/executor.hpp>
#include <basal/posse/detail/delegation.hpp>
#include <basal/posse/detail/task_list.hpp>
#include <basal/posse/fwd.hpp>
#include <basal/posse/member.hpp>
#include <basal/posse/pure.hpp>
#include <basal/posse/range_fork.hpp>

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
/// The tasks of a group are the elements of a range, see `range_fork`: one node in the member's
/// list stands for those that have not begun. The most basal node is stolen first, as always: that
/// of the oldest group. The thief takes the later half of its tasks, and from then on, whoever has
/// done its own takes some of the other's. Nobody blocks a thread: who waits for a thief is
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
  /// limit, and destroyed when it has run; its memory is free again when all that wait with it
  /// have. Its return value is dropped: a task puts its result where no other one reads or writes
  /// before wait() returns or the scope ends. Objects that it refers to must live until then.
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
      waiting_.emplace_back<task_of<kind>>(std::in_place, std::forward<Task>(task));
      if (waiting_.size() == 1)
        run_ = &run_tasks<kind>;
      else if (run_ != &run_tasks<kind>)
        run_ = &run_tasks<any_kind>;
    }
  }

  /// Does the tasks that have not begun, and returns when they and all that they
  /// spawned are done. More may be spawned afterwards.
  /// @throws the first exception in the sequential order: later tasks are dropped,
  ///         or cancelled and awaited where they were stolen; cancelled,
  ///         memory_limit_exceeded; std::logic_error, see spawn()
  void wait() {
    expect_body();
    if (waiting_.size() == 0)
      return;
    const running runs{*this};
    run_(member_, waiting_.order(), waiting_.size());
  }

  /// The member that runs the body, for forks, algorithms and safepoints.
  posse::member& member() const noexcept {
    return member_;
  }

  /// For task_scope.
  explicit task_group(posse::member& m) noexcept : member_(m) {
  }

private:
  struct running {
    explicit running(task_group& of) noexcept : group(of) {
      group.runs_tasks_ = true;
    }

    running(const running&) = delete;
    running& operator=(const running&) = delete;

    ~running() {
      group.waiting_.clear();
      group.runs_tasks_ = false;
    }

    task_group& group;
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

    void run_and_end(posse::member& m) override {
      const ended_by_scope ends{*this};
      if constexpr (detail::branch<Task>) {
        detail::invoke_branch(task_, m);
      } else {
        task_group spawned{m};
        task_(spawned);
        if (spawned.waiting_.size() != 0)
          spawned.wait();
      }
    }

  private:
    struct ended_by_scope {
      explicit ended_by_scope(task_of& t) noexcept : task(t) {
      }

      ended_by_scope(const ended_by_scope&) = delete;
      ended_by_scope& operator=(const ended_by_scope&) = delete;

      ~ended_by_scope() {
        task.~task_of();
      }

      task_of& task;
    };

    Task task_;
  };

  struct any_kind {};

  /// The body of a range of tasks of one kind: their time is learned, as that of a loop's elements.
  template <class Task>
  struct runner {
    detail::any_task** tasks;

    void operator()(posse::member& m, std::size_t first, std::size_t last) const {
      for (auto i = first; i != last; ++i) {
        auto& task = static_cast<task_of<Task>&>(*std::exchange(tasks[i], nullptr));
        task.run_and_end(m);
      }
    }
  };

  /// Of such tasks time tells nothing: they are different ones, or what they spawn is theirs.
  template <class Task>
  requires(std::is_same_v<Task, any_kind> || !detail::branch<Task>) struct runner<Task> {
    static constexpr bool elements_are_unlike = true;

    detail::any_task** tasks;

    void operator()(posse::member& m, std::size_t first, std::size_t last) const {
      for (auto i = first; i != last; ++i)
        std::exchange(tasks[i], nullptr)->run_and_end(m);
    }
  };

  template <class Task>
  static void run_tasks(posse::member& m, detail::any_task** tasks, std::size_t n) {
    range_fork<runner<Task>>{runner<Task>{tasks}}.run(m, 0, n);
  }

  posse::member& member_;
  detail::task_list waiting_;
  void (*run_)(posse::member&, detail::any_task**, std::size_t); ///< by kind, if there are some
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
