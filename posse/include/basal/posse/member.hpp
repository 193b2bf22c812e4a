#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

#include <basal/executors/fwd.hpp>
#include <basal/posse/detail/delegation.hpp>
#include <basal/posse/fwd.hpp>
#include <basal/posse/right_continuation.hpp>
#include <basal/posse/theft.hpp>

namespace basal::posse {

/// One running piece of a parallel computation: the caller of a pure function,
/// or a delegate that runs a stolen right continuation. Passed by reference to
/// everything that forks, so that the compiler keeps it in a register.
///
/// A member belongs to the thread that runs it; a branch must use the member
/// that it is called with, not one that it captured.
class member {
public:
  member(detail::computation& origin, executors::executor& self) noexcept;

  member(const member&) = delete;
  member& operator=(const member&) = delete;

  /// Calls `left(*this)`, then `right(*this)`, and returns both results as a
  /// pair, in which std::monostate stands for void. If `left` runs for more
  /// than a quantum and an executor is idle, `right` may run there meanwhile;
  /// so the two must not write what the other reads or writes.
  ///
  /// Both run in this order on this thread unless stolen, and the results are
  /// the same either way. If `left` throws, so does the fork, and what `right`
  /// returned or threw is dropped; it may not have run. Otherwise, if `right`
  /// throws, the fork does.
  ///
  /// Costs a few nanoseconds and no allocation. Never blocks the thread: while
  /// it waits for a stolen branch, the executor runs other work.
  ///
  /// A named callable is used in place; a temporary is moved into the frame.
  template <class Left, class Right>
  [[gnu::always_inline]] inline auto fork_merge(Left&& left, Right&& right)
    -> std::pair<detail::branch_result_t<std::remove_reference_t<Left>>,
                 detail::branch_result_t<std::remove_reference_t<Right>>>;

  /// A safepoint for long stretches without forks: lets waiting actors have
  /// their turn at a quantum's end, gives work away, and notices cancellation.
  /// @throws cancelled
  [[gnu::always_inline]] inline void poll() {
    if (must_look_up()) [[unlikely]]
      look_up();
  }

  /// The executor that runs this member.
  executors::executor& executor() const noexcept {
    return *executor_;
  }

private:
  friend class runtime;

  template <class Body>
  friend class range_fork;

  template <class Right>
  class pending_fork;

  [[gnu::always_inline]] inline bool must_look_up() noexcept {
    // One test for both: the countdown ran out, or somebody raised the
    // executor's attention word, which is 0 or the most negative number.
    return ((--countdown_) | attention_->load(std::memory_order_relaxed)) < 0;
  }

  /// The slow path of every safepoint: quantum's end, theft, other actors'
  /// turn, cancellation. @throws cancelled
  [[gnu::noinline, gnu::cold]] void look_up();

  /// Waits until the delegate has merged; the node must be taken.
  [[gnu::noinline, gnu::cold]] void await_merge(right_continuation& node);

  /// Left failed: unlinks the node, waits for the delegate if there is one,
  /// and drops its result.
  [[gnu::noinline, gnu::cold]] void abandon(right_continuation& node) noexcept;

  /// Right was taken: waits, and returns its result or throws its error.
  template <class Right>
  [[gnu::noinline, gnu::cold]] detail::branch_result_t<Right> merge_taken(right_continuation& node);

  void survey(bool stamp) noexcept;
  void consider_theft() noexcept;
  void start_quantum(std::uint64_t now) noexcept;
  std::int32_t next_countdown(std::uint64_t now) const noexcept;

  // -- what a fork touches ----------------------------------------------------

  right_continuation* youngest_ = nullptr;

  /// Safepoints until the next look at the clock.
  std::int32_t countdown_ = 0;

  /// The length of the last countdown, to learn the rate from.
  std::int32_t countdown_length_ = 1;

  const std::atomic<std::int32_t>* attention_;

  // -- what a quantum's end touches -------------------------------------------

  executors::executor* executor_;
  detail::computation* origin_;

  /// The most basal node that no delegate runs; exact only right after a
  /// survey, null if there is none.
  right_continuation* oldest_ready_ = nullptr;

  std::uint32_t quantum_ = 1;       ///< number of the current quantum
  std::uint32_t last_theft_ = 0;    ///< quantum of the last theft
  std::uint64_t quantum_start_ = 0; ///< tick_clock; 0: not started yet
  std::uint64_t last_look_ = 0;     ///< tick_clock
};

/// The node of a fork whose right branch is a `Right`, or `Right&`.
template <class Right>
class member::pending_fork : public right_continuation {
public:
  using branch = std::remove_reference_t<Right>;

  pending_fork(right_continuation* older, Right&& r)
    : right_continuation(older, &delegate), right(std::forward<Right>(r)) {
  }

  Right right;

private:
  static detail::delegation* delegate(right_continuation& self,
                                      detail::computation& origin) noexcept {
    return new (std::nothrow)
      detail::typed_delegation<branch>(origin, static_cast<pending_fork&>(self).right);
  }
};

template <class Left, class Right>
[[gnu::always_inline]] inline auto member::fork_merge(Left&& left, Right&& right)
  -> std::pair<detail::branch_result_t<std::remove_reference_t<Left>>,
               detail::branch_result_t<std::remove_reference_t<Right>>> {
  using right_branch = std::remove_reference_t<Right>;
  // While the left branch runs, only an exception leaves this frame: then the
  // node is unlinked, and a delegate that works on it awaited.
  struct unwinding_guard {
    member& self;
    right_continuation& node;
    bool armed = true;
    [[gnu::always_inline]] ~unwinding_guard() {
      if (armed)
        self.abandon(node);
    }
  };
  pending_fork<Right> node{youngest_, std::forward<Right>(right)};
  youngest_ = &node;
  unwinding_guard guard{*this, node};
  if (must_look_up()) [[unlikely]]
    look_up();
  auto first = detail::call_branch(left, *this);
  guard.armed = false;
  // From here on everything comes from the node again: kept in registers across
  // the call, it would cost the callee's saves and restores.
  if (node.is_taken()) [[unlikely]]
    return {std::move(first), merge_taken<right_branch>(node)};
  youngest_ = node.older();
  auto second = detail::call_branch(node.right, *this);
  return {std::move(first), std::move(second)};
}

template <class Right>
detail::branch_result_t<Right> member::merge_taken(right_continuation& node) {
  youngest_ = node.older();
  await_merge(node);
  auto& merged = static_cast<detail::typed_delegation<Right>&>(*node.delegation);
  // The frame owned it; it must be gone before the frame is.
  struct owner {
    detail::delegation* held;
    ~owner() {
      delete held;
    }
  } guard{node.delegation};
  if (merged.error)
    std::rethrow_exception(std::move(merged.error));
  return std::move(*merged.result);
}

} // namespace basal::posse
