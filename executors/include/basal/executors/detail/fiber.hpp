#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <basal/executors/detail/inbox.hpp>
#include <basal/executors/detail/stack_pool.hpp>

namespace basal::executors {

/// A stack with something half done on it, and the registers to go on with.
/// The control block lives at the top of the stack itself.
///
/// Rules, each bought with a failure:
/// - A fiber runs on one thread for life: its executor's. Compilers cache the
///   addresses of thread-locals across calls.
/// - A suspended fiber is published only after its stack was left, by the
///   `after` action of the switch; otherwise another thread could wake it, and
///   its executor resume it, while it is still running.
/// - The C++ runtime's list of exceptions being handled is saved and restored
///   at each switch; otherwise two fibers suspended inside `catch` rethrow each
///   other's exception.
/// - A suspended fiber is never destroyed, only resumed, so that its frames
///   unwind.
class fiber {
public:
  /// For the thread's own stack.
  explicit fiber(executor& home) noexcept;

  ~fiber();

  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;

  /// The item that its executor took from a queue and runs on it.
  work_item work() const noexcept {
    return work_;
  }

  /// Its name in reports.
  const char* label() const noexcept {
    return work_name_ != nullptr ? work_name_ : work_ ? work_.ops->kind : "a task";
  }

  /// Names the work that runs on it, for reports; the text must outlive that work. Owner only.
  /// @returns the name before
  const char* name_work(const char* name) noexcept;

  /// The stopwatch that measures the work that runs on it, or null. Owner only.
  stopwatch*& watch() noexcept {
    return watch_;
  }

  /// A place for the module above to keep what belongs to the work that runs on
  /// it. Owner only; whoever sets it puts back what was there.
  void*& attachment() noexcept {
    return attachment_;
  }

  /// The address of the outermost sequential_scope on its stack: what was put
  /// there later has lower ones. Null: there is none. Owner only.
  const void*& sequential() noexcept {
    return sequential_;
  }

  /// The executor whose thread it runs on.
  executor& home() const noexcept {
    return *home_;
  }

  /// For how long it has been suspended so far, in its executor's ticks. Owner only.
  std::uint64_t waited() const noexcept {
    return waited_;
  }

  /// Its stack; empty for a thread's own. Any thread.
  const stack& memory() const noexcept {
    return stack_;
  }

private:
  friend class dump_answer;
  friend class executor;
  friend class executor_pool;
  friend class spare_fibers;
  friend class overflow_report;
  friend class stack_scan;

  /// The first call of the next fiber, once the stack of `from` is left.
  using after_action = void (*)(void* argument, fiber& from) noexcept;

  fiber(executor& home, stack s) noexcept;

  /// Puts a new fiber on a stack of `stacks`; its first switch enters
  /// `home.loop()`.
  static fiber& create(executor& home, stack_pool& stacks);

  /// Gives the stack back. The fiber must not be running and must hold no
  /// frame with a destructor. On the thread of its executor, or when that has none.
  static void destroy(fiber& f, stack_pool& stacks) noexcept;

  /// Leaves `from`, the running fiber, for `to`. Returns when somebody switches
  /// back. `argument` may live on `from`'s stack.
  static void switch_to(fiber& from, fiber& to, after_action after, void* argument) noexcept;

  struct switch_record;
  struct entry_point;
  static void arrive(void* context, switch_record* record) noexcept;

  void* context_ = nullptr; ///< saved registers; valid while suspended
  executor* home_;
  work_item work_;
  const char* work_name_ = nullptr;
  stopwatch* watch_ = nullptr; ///< paused while the fiber is suspended
  void* attachment_ = nullptr;
  const void* sequential_ = nullptr;
  const char* waits_for_ = nullptr; ///< while it is suspended; a constant text
  std::uint64_t waits_since_ = 0;   ///< its executor's ticks
  std::uint64_t waited_ = 0;        ///< likewise, of all its suspensions that are over
  stack stack_;                     ///< empty for the thread's own stack
  inbox_node node_;                 ///< for its executor's lists while suspended
  fiber* next_spare_ = nullptr;
  bool cool_ = false;             ///< as a spare: its stack holds no more than it keeps
  fiber* next_of_home_ = nullptr; ///< the next older one of the same executor
  fiber* previous_of_home_ = nullptr;

  /// Copy of the C++ runtime's per-thread exception state (Itanium C++ ABI,
  /// section 2.2.2: a pointer and an unsigned int).
  struct {
    void* caught = nullptr;
    std::uintptr_t uncaught = 0;
  } exceptions_;

  // State with which AddressSanitizer and ThreadSanitizer follow a switch; unused otherwise, and
  // kept so that the layout is the same in every build.
  void* fake_stack_ = nullptr;
  const void* asan_bottom_ = nullptr;
  std::size_t asan_size_ = 0;
  void* tsan_fiber_ = nullptr;
};

} // namespace basal::executors
