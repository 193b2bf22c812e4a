// In one piece: a fork is inlined into who calls it, with all that it touches of a member.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <memory_resource>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/fwd.hpp>
#include <basal/posse/detail/charge_frame.hpp>
#include <basal/posse/detail/delegation.hpp>
#include <basal/posse/detail/memory_charge.hpp>
#include <basal/posse/detail/right_continuation.hpp>
#include <basal/posse/fwd.hpp>
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
  member(const member&) = delete;
  member& operator=(const member&) = delete;

  /// Calls `left(*this)`, then `right(*this)`, and returns both results as a
  /// pair, in which std::monostate stands for void. If an executor is
  /// idle, and `left` takes, or is known to take, long enough to pay for a theft,
  /// `right` may run there meanwhile; so the two must not write what the other
  /// reads or writes.
  ///
  /// Both run in this order on this thread unless stolen, and the results are
  /// the same either way. If `left` throws, so does the fork, and what `right`
  /// returned or threw is dropped; it may not have run, or been cancelled.
  /// Otherwise, if `right` throws, the fork does.
  ///
  /// Costs a few nanoseconds and no allocation. Never blocks the thread: while
  /// it waits for a stolen branch, for longer than a hand-over takes (theft_costs), the executor
  /// runs other work.
  ///
  /// A branch takes the member that runs it, or nothing if it does not fork. A
  /// named callable is used in place; a temporary is moved into the frame.
  ///
  /// @throws cancelled
  /// @throws memory_limit_exceeded when the stack has little room for more forks
  template <class Left, class Right>
  [[gnu::always_inline]] inline auto fork_merge(Left&& left, Right&& right)
    -> std::pair<detail::branch_result_t<std::remove_reference_t<Left>>,
                 detail::branch_result_t<std::remove_reference_t<Right>>>;

  /// The same with three and more branches: calls them in order and returns
  /// their results as a tuple. They make a binary tree of forks, the left half
  /// rounded up (five branches: three and two), so that a thief takes the most
  /// basal right continuation here as well: the right half first. The first
  /// exception in the order of branches comes out; what the later ones returned
  /// or threw is dropped.
  ///
  /// Costs a fork less than there are branches. Temporaries are used in place.
  ///
  /// @throws cancelled, memory_limit_exceeded
  template <class First, class Second, class Third, class... More>
  auto fork_merge(First&& first, Second&& second, Third&& third, More&&... more)
    -> std::tuple<detail::branch_result_t<std::remove_reference_t<First>>,
                  detail::branch_result_t<std::remove_reference_t<Second>>,
                  detail::branch_result_t<std::remove_reference_t<Third>>,
                  detail::branch_result_t<std::remove_reference_t<More>>...>;

  /// Says what to do instead.
  template <class Only>
  void fork_merge(Only&&) {
    static_assert(sizeof(Only*) == 0,
                  "fork_merge takes two branches or more; for as many as a program finds out when "
                  "it runs there are map_reduce, map and for_each: "
                  "map_reduce(m, children, [](member& k, node* n) { return f(k, n); }, 0)");
  }

  /// A safepoint for long stretches without forks: lets waiting actors have
  /// their turn at a quantum's end, gives work away, and notices cancellation.
  /// @throws cancelled, memory_limit_exceeded
  [[gnu::always_inline]] inline void poll() {
    ++polls_;
    safepoint();
  }

  /// Memory that counts towards the computation's limit on this executor. What
  /// comes from it must be gone when the computation ends: copy results out, as
  /// pmr containers do when they are copied. An allocation beyond the limit
  /// throws memory_limit_exceeded. Costs what operator new does, and some 10 ns.
  /// Any thread may give memory back.
  std::pmr::memory_resource& memory();

  /// Counts memory that comes from elsewhere towards the limit, for as long as
  /// what it returns lives, wherever that ends.
  /// @throws memory_limit_exceeded, with nothing counted
  [[nodiscard]] memory_charge charge(std::size_t bytes);

  /// The executor that runs this member.
  executors::executor& executor() const noexcept {
    return *executor_;
  }

private:
  friend class runtime;
  friend class detail::computation_dump;
  friend class detail::memory_context;
  friend detail::computation& detail::origin_of(const member&) noexcept;
  friend void detail::open_charge(detail::charge_frame&, detail::charge_frame*, void*) noexcept;

  friend class detail::divisible_range;
  friend class detail::divisible_search;
  friend class detail::shared_range;

  template <class Place>
  friend class detail::short_range;

  template <class Body, class Result>
  friend Result detail::call_body(member& m, void* body, std::size_t first, std::size_t last);

  friend class task_group;

  template <class Value, class Tree>
  friend class detail::reduction;

  template <class Iterator, class Less>
  friend class detail::quicksort;

  template <class Right>
  class pending_fork;

  template <class Right>
  class rated_fork;

  /// The first member of a computation.
  member(detail::computation& origin, executors::executor& self,
         detail::executor_cells& cells) noexcept;

  /// The member that runs a delegation.
  member(detail::delegation& self_as, executors::executor& self,
         detail::executor_cells& cells) noexcept;

  ~member() {
    leave();
    if (last_look_ != 0 || context_ != nullptr)
      finish();
  }

  [[gnu::always_inline]] inline void safepoint() {
    // One test for both: the countdown ran out, or somebody raised the
    // executor's attention word, which is 0 or the most negative number. In a
    // local, so that forks that are inlined into one another count in a
    // register, rather than each wait for the last one's store.
    auto left = countdown_ - 1;
    if ((left | attention_->load(std::memory_order_relaxed)) < 0) [[unlikely]] {
      countdown_ = left;
      look_up();
      left = countdown_;
    }
    countdown_ = left;
  }

  /// The slow path of every safepoint: quantum's end, theft, other actors'
  /// turn, cancellation, memory. @throws cancelled, memory_limit_exceeded
  [[gnu::noinline, gnu::cold]] void look_up();

  // For range_fork, range_search, reduction and sort, see there.

  /// fork_merge(left, right) where `right` is known to take `work` ticks; 0: not known.
  template <class Left, class Right>
  auto rated_fork_merge(std::uint64_t work, Left&& left, Right&& right)
    -> std::pair<detail::branch_result_t<std::remove_reference_t<Left>>,
                 detail::branch_result_t<std::remove_reference_t<Right>>>;

  /// Safepoints passed so far.
  std::uint64_t safepoints() const noexcept {
    return safepoints_ + static_cast<std::uint64_t>(countdown_start_ - countdown_);
  }

  /// Ticks; 0: there was none yet.
  std::uint64_t last_look() const noexcept {
    return last_look_;
  }

  /// Ticks.
  [[gnu::noinline]] std::uint64_t now() const noexcept;

  /// A safepoint before little work: the first few of a computation that has not looked need none.
  void poll_lightly() {
    constexpr std::uint64_t few = 16;
    ++polls_;
    if (last_look_ != 0 || polls_ > few)
      safepoint();
  }

  /// Whether to call offer() for `work` ticks of work.
  bool is_worth_an_offer(std::uint64_t work) const noexcept {
    return work >= least_offer_ && pays(work);
  }

  void note_refusal(std::uint64_t work) noexcept;

  /// How many executors may work for the computation at the same time, at most.
  std::size_t most_executors() const noexcept;

  /// Whether there is an executor beside the member's own that could.
  bool has_others() const noexcept;

  /// Whether such a one is idle and could begin now.
  bool has_idle_others() const noexcept;

  /// The elements that a range has left at least, as far as its pace is concerned: see runtime.
  std::size_t least_left() const noexcept {
    return least_left_;
  }

  /// Looks up if it is time to by `now`, in ticks, which the caller has for other reasons: the
  /// countdown was set when safepoints may have come more often. @throws as poll()
  void heed(std::uint64_t now) {
    if (now - last_look_ >= look_after_ && last_look_ != 0) [[unlikely]] {
      look_left_ = 0;
      look_up();
    }
  }

  /// Considers a theft here and now, if an executor is idle.
  [[gnu::noinline, gnu::cold]] void offer() noexcept;

  /// Waits until the delegate has merged, or does the work that it has not begun; the node must be
  /// taken. An exception of that work is the delegation's error.
  [[gnu::noinline, gnu::cold]] void await_merge(right_continuation& node);
  bool merges_while_awake(const detail::delegation& d) const noexcept;
  bool has_gained(const detail::delegation& d, std::uint64_t waits_since,
                  std::uint64_t late) const noexcept;
  void note_merge(const detail::delegation& d) noexcept;

  /// This member did its part of a range until `own` (ticks), and the delegate `d`, which has
  /// merged, another part; both were to end at the same time.
  void note_ends(std::uint64_t own, const detail::delegation& d) noexcept;

  /// Ticks of work that are worth to be taken from another member of the same range; 0: none is,
  /// by the strict rule.
  std::uint64_t least_taken() const noexcept;

  /// How many there were from members on this executor.
  std::uint64_t num_thefts() const noexcept;

  /// Left failed: unlinks the youngest node, which is that fork's, cancels the
  /// delegate if there is one, waits for it, and drops its result.
  [[gnu::noinline, gnu::cold]] void abandon() noexcept;

  /// Right's part of the youngest node's fork, when the node is not as the fork
  /// left it: waits for the delegate and returns its result or throws its error;
  /// calls right here if there is none.
  template <class Right>
  [[gnu::noinline, gnu::cold]] detail::branch_result_t<std::remove_reference_t<Right>>
  merge_slowly();

  void enter() noexcept;
  void leave() noexcept;
  [[gnu::noinline, gnu::cold]] void finish() noexcept;

  bool glance();
  void count_down(std::int32_t safepoints) noexcept;
  void settle(std::uint64_t now) noexcept;
  void resume(std::uint64_t suspended_at) noexcept;
  void continue_quantum(std::uint64_t start) noexcept;
  std::int32_t next_look(std::uint64_t now) const noexcept;
  void look_within(std::uint64_t ticks) noexcept;
  std::uint64_t stretch(std::uint64_t now) const noexcept;
  void recall_past(std::uint64_t now) noexcept;
  void note_past() noexcept;
  std::uint64_t expected_left(std::uint64_t now) const noexcept;
  void end_quantum(std::uint64_t now) noexcept;
  void check_cancelled(bool quantum_ended);
  [[noreturn]] void throw_too_deep();

  // Thefts.
  static constexpr unsigned stamp_shift = 8;
  void survey(std::uint64_t now, bool quantum_ends) noexcept;
  std::uint32_t eligible() const noexcept;
  std::uint64_t age_of(const right_continuation& node, std::uint64_t now) const noexcept;
  std::uint64_t known_work(const right_continuation& node) const noexcept;
  member* most_basal(std::uint64_t now) noexcept;
  struct idle_ones;
  idle_ones idle_executors() const noexcept;
  std::uint64_t cost_awake(std::uint64_t hand_over) const noexcept;
  bool pays(std::uint64_t work) const noexcept;
  std::uint64_t consider_theft(std::uint64_t now) noexcept;
  void count(theft_verdict verdict) noexcept;
  theft_verdict delegate_oldest(member& from, const theft_view& view,
                                right_continuation::division how) noexcept;
  bool may_wake(const theft_view& view) const noexcept;
  void consider_waking(const member& victim, theft_view view, std::uint64_t now) noexcept;
  void delegate_two(const theft_view& view) noexcept;
  detail::delegation* take_seamlessly(std::uint64_t now) noexcept;
  struct prepared;
  prepared prepare(right_continuation& node, right_continuation::division how) noexcept;
  bool has_room_for(const detail::delegation& d) const noexcept;
  void give_up(std::unique_ptr<detail::delegation> d) noexcept;
  detail::delegation& take(std::unique_ptr<detail::delegation> d, detail::memory_context& to,
                           const theft_view* view) noexcept;
  bool take_back(detail::delegation& d) noexcept;
  void report(const right_continuation& node, detail::memory_context& to,
              const theft_view* view) const noexcept;
  bool may_be_stolen_from(const member& other, victim_policy policy) const noexcept;

  // Memory.
  bool enter_context() noexcept;
  void note_allocation() noexcept;
  bool limit_memory() noexcept;
  void wait_until_youngest() noexcept;
  const std::byte* deepest() const noexcept;
  std::size_t lineage_bytes_at(const right_continuation& node) const noexcept;
  void* account_at(const right_continuation& node) const noexcept;

  // -- what a fork touches ----------------------------------------------------

  right_continuation* youngest_ = nullptr;

  const std::atomic<std::int32_t>* attention_;

  /// Safepoints until the next glance at the stack's depth. The first comes at
  /// once: a computation without a safepoint never looks.
  std::int32_t countdown_ = 0;

  std::int32_t countdown_start_ = 0; ///< its initial value

  std::uint64_t polls_ = 0;

  // -- what a quantum's end touches -------------------------------------------

  executors::executor* executor_;
  executors::fiber* fiber_; ///< that it runs on, from beginning to end
  detail::computation* origin_;
  detail::executor_cells* cells_;

  const std::uint64_t least_offer_; ///< ticks
  const std::size_t least_left_;    ///< elements of a range
  std::uint64_t last_look_ = 0;     ///< ticks; 0: none yet
  std::uint64_t quantum_start_ = 0;
  std::uint64_t safepoints_ = 0; ///< up to the last glance
  std::uint64_t busy_ticks_ = 0; ///< likewise

  /// The most basal node that no delegate runs; exact only right after a
  /// survey, null if there is none.
  right_continuation* oldest_ready_ = nullptr;

  std::uint32_t quantum_ = 1;    ///< number of the current quantum
  std::uint32_t last_theft_ = 0; ///< quantum of the last theft

  /// Safepoints from one look at the clock to the next, and those of them that
  /// are left after this countdown.
  std::int32_t look_length_ = 1;
  std::int32_t look_left_ = 0;
  std::uint64_t look_after_ = 0; ///< ticks from the last look to the next, at the latest
  std::uint64_t safepoints_at_look_ = 0;
  std::uint64_t stretch_ = 0;                 ///< as of the last look
  right_continuation::past* known_ = nullptr; ///< of the first fork; null: not remembered
  std::uint64_t expected_ = 0;                ///< ticks that it was expected to take ...
  std::uint64_t expected_since_ = 0;          ///< ... from then on

  const std::byte* stack_limit_;          ///< nodes below this address are too deep
  const std::byte* depth_at_glance_;      ///< address of the last glance's frame
  std::size_t bytes_per_safepoint_ = 512; ///< that the stack may grow by; learned

  // -- what a theft or a memory limit needs -----------------------------------

  bool attentive_before_;
  bool suspended_ = false; ///< waits for `latch_`
  const char* name_before_;
  detail::delegation* as_ = nullptr;            ///< its delegation; null: the root
  const detail::delegation* awaited_ = nullptr; ///< that it waits for at a merge; for dumps
  detail::memory_context* context_ = nullptr;
  member* older_member_ = nullptr; ///< in the context
  member* younger_member_ = nullptr;
  executors::fiber* parked_ = nullptr; ///< waits until it is the youngest here
  std::size_t counted_stack_ = 0;      ///< its part of the context's stacks
  std::size_t heap_at_start_ = 0;      ///< the context's
  detail::merge_latch latch_;
  detail::charge_frame charge_; ///< in the fiber's list
};

/// The node of a fork whose right branch is a `Right`, or `Right&`.
template <class Right>
class member::pending_fork : public right_continuation {
public:
  using branch = std::remove_reference_t<Right>;

  pending_fork(right_continuation* older, Right&& r)
    : pending_fork(older, std::forward<Right>(r), ops) {
  }

  Right right;

protected:
  pending_fork(right_continuation* older, Right&& r, const operations& of_kind)
    : right_continuation(older, of_kind), right(std::forward<Right>(r)) {
  }

  static detail::delegation* delegate(right_continuation& self, detail::computation& origin,
                                      division) noexcept {
    return new (std::nothrow)
      detail::typed_delegation<branch>(origin, static_cast<pending_fork&>(self).right);
  }

private:
  static inline past known;
  static constexpr operations ops{&delegate, nullptr, nullptr, &known};
};

/// The same where it is known what the right branch takes.
template <class Right>
class member::rated_fork : public pending_fork<Right> {
public:
  rated_fork(right_continuation* older, Right&& r, std::uint64_t ticks)
    : pending_fork<Right>(older, std::forward<Right>(r), ops), work(ticks) {
  }

  const std::uint64_t work;

private:
  static std::uint64_t expected(const right_continuation& self, std::uint64_t like) noexcept {
    const auto known = static_cast<const rated_fork&>(self).work;
    return known != 0 ? known : like;
  }

  static constexpr right_continuation::operations ops{&rated_fork::delegate, &expected};
};

template <class Left, class Right>
[[gnu::always_inline]] inline auto member::fork_merge(Left&& left, Right&& right)
  -> std::pair<detail::branch_result_t<std::remove_reference_t<Left>>,
               detail::branch_result_t<std::remove_reference_t<Right>>> {
  // The whole is as small as it is so that g++ inlines a recursive function's
  // forks into one another: it counts calls, also those of a pair's constructor
  // (a tree's fork takes 3.0 ns with them, 2.3 without), and no node's address
  // is kept for the slow paths, which find it as the youngest.
  //
  // While the left branch runs, only an exception leaves this frame: then the
  // node is unlinked, and a delegate that works on it awaited.
  struct unwinding_guard {
    member& self;
    bool armed = true;
    [[gnu::always_inline]] ~unwinding_guard() {
      if (armed)
        self.abandon();
    }
  };
  using first_result = detail::branch_result_t<std::remove_reference_t<Left>>;
  using second_result = detail::branch_result_t<std::remove_reference_t<Right>>;
  pending_fork<Right> node{youngest_, std::forward<Right>(right)};
  youngest_ = &node;
  unwinding_guard guard{*this};
  safepoint();
  // From the left branch on everything comes from the node again: kept in
  // registers across the call, it would cost the callee's saves and restores.
  // One test tells all that may have happened to it.
  if constexpr (detail::is_small_result<first_result> && detail::is_small_result<second_result>) {
    std::pair<first_result, second_result> both;
    both.first = detail::call_branch(left, *this);
    BASAL_ASSERT(youngest_ == &node, "a branch forks with the member that it was called with");
    guard.armed = false;
    if (!node.is_untouched()) [[unlikely]] {
      both.second = merge_slowly<Right>();
    } else {
      youngest_ = node.older_of_untouched();
      both.second = detail::call_branch(node.right, *this);
    }
    return both;
  } else {
    auto first = detail::call_branch(left, *this);
    BASAL_ASSERT(youngest_ == &node, "a branch forks with the member that it was called with");
    guard.armed = false;
    if (!node.is_untouched()) [[unlikely]]
      return {std::move(first), merge_slowly<Right>()};
    youngest_ = node.older_of_untouched();
    auto second = detail::call_branch(node.right, *this);
    return {std::move(first), std::move(second)};
  }
}

/// Not one with fork_merge(), which is to be as small as it can be.
template <class Left, class Right>
auto member::rated_fork_merge(std::uint64_t work, Left&& left, Right&& right)
  -> std::pair<detail::branch_result_t<std::remove_reference_t<Left>>,
               detail::branch_result_t<std::remove_reference_t<Right>>> {
  struct unwinding_guard {
    member& self;
    bool armed = true;
    ~unwinding_guard() {
      if (armed)
        self.abandon();
    }
  };
  rated_fork<Right> node{youngest_, std::forward<Right>(right), work};
  youngest_ = &node;
  unwinding_guard guard{*this};
  safepoint(); // the member's first look, if there was none yet
  if (is_worth_an_offer(work))
    offer();
  auto first = detail::call_branch(left, *this);
  BASAL_ASSERT(youngest_ == &node, "a branch forks with the member that it was called with");
  guard.armed = false;
  if (!node.is_untouched())
    return {std::move(first), merge_slowly<Right>()};
  youngest_ = node.older_of_untouched();
  auto second = detail::call_branch(node.right, *this);
  return {std::move(first), std::move(second)};
}

template <class Right>
detail::branch_result_t<std::remove_reference_t<Right>> member::merge_slowly() {
  auto& node = static_cast<pending_fork<Right>&>(*youngest_);
  youngest_ = node.older();
  if (!node.is_taken())
    return detail::call_branch(node.right, *this);
  await_merge(node);
  using branch = std::remove_reference_t<Right>;
  auto& merged = static_cast<detail::typed_delegation<branch>&>(*node.delegation);
  // The frame owned it; it must be gone before the frame is.
  std::unique_ptr<detail::delegation> guard{node.delegation};
  if (merged.error)
    std::rethrow_exception(std::move(merged.error));
  BASAL_ASSERT(merged.result, "a delegate that ended leaves a result or an error");
  return std::move(*merged.result);
}

} // namespace basal::posse

#include <basal/posse/detail/fork_tree.hpp> // IWYU pragma: export
