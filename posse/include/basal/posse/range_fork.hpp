#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <basal/executors/detail/assert.hpp>
#include <basal/posse/detail/delegation.hpp>
#include <basal/posse/detail/division_trial.hpp>
#include <basal/posse/detail/near_function.hpp>
#include <basal/posse/detail/pace.hpp>
#include <basal/posse/detail/range_site.hpp>
#include <basal/posse/detail/right_continuation.hpp>
#include <basal/posse/detail/short_range.hpp>
#include <basal/posse/fwd.hpp>
#include <basal/posse/member.hpp>

namespace basal::posse {

/// A fork of many branches, the elements [first, last) of a range, as one node
/// that is split when somebody takes from it: the member does the elements in
/// order, in steps, and its node stands for those that it has not begun. A
/// thief takes the upper half of them, or with k executors idle the upper
/// 1/(k+1), and does as much; somewhat less, where it is known how long a hand-over takes, so that
/// all end at the same time. So a range costs one node and about 2 ns a step, however many elements
/// it has.
///
/// If the cost of elements is known, by `range_site` or by now, the range is offered at its
/// beginning and at each look of its pace, if the rest would pay for a theft.
///
/// Sources: lazy binary splitting (Tzannes, Caragea, Barua, Vishkin, PPoPP
/// 2010) for splitting on demand; `pace` for the steps.
///
/// `Body` is called as `body(member&, first, last)`, does the elements [first, last) and returns
/// nothing. Calls for different elements run at the same time.
///
/// The first exception in the order of elements comes out of run(); later ones may or may not have
/// been done then.
template <class Body>
class range_fork : private detail::short_range<Body> {
  static_assert(std::is_void_v<std::invoke_result_t<Body&, member&, std::size_t, std::size_t>>,
                "the body of a range_fork returns nothing; a search is a range_search");

public:
  /// Begins nothing yet.
  /// @param each an element of the range stands for 2^each of what the program has: what is known
  ///             of these holds for ranges that put more or fewer of them together
  /// @param most_steps for each executor, unless these take long (pace::longest_least); 0: any
  /// @param least_step elements of a step, at least, unless it takes so long; where it is left to
  ///                   `most_steps`, 1
  explicit range_fork(Body body, int each = 0, std::size_t most_steps = 0,
                      std::size_t least_step = 1) noexcept
    : base(std::move(body), each), most_steps_(most_steps), least_(least_step) {
  }

  range_fork(const range_fork&) = delete;
  range_fork& operator=(const range_fork&) = delete;

  /// Does the elements [first, last). Once.
  /// @throws any exception of the body; cancelled
  void run(member& m, std::size_t first, std::size_t last) {
    BASAL_ASSERT(first <= last, "a range ends behind its beginning");
    if (first == last)
      return;
    end_.store(last, std::memory_order_relaxed);
    if (last - first <= few_elements && site.has_forks()) {
      run_few(m, first, last);
      return;
    }
    if (most_steps_ != 0)
      least_ = (last - first) / (most_steps_ * m.most_executors());
    jump found;
    if (!this->run_if_short(m, first, last, found))
      run_all(m, first, last, this->begin(m, first, last, found, least_));
    base::end(m, found);
  }

private:
  using base = detail::short_range<Body>;
  using base::body_;
  using base::each_;
  using base::site;
  using base::step;
  using typename base::jump;

  /// The part of the range that a thief takes.
  struct upper_part {
    range_fork* fork;
    std::size_t first;
    std::size_t last;
    pace::element_cost known; ///< to the victim; 0: not

    void operator()(member& m) const {
      auto near = detail::near_to<std::size_t, std::size_t>(fork->body_);
      auto&& body = near.get();
      // Where nothing is known, the clock is read from the first step on.
      const auto cost = known != 0 ? known : site.cost(fork->each_);
      fork->run(m, body, first, last,
                cost != 0 ? pace{first, last - first, cost, last - first, fork->least_}
                          : pace{first, 1, fork->least_});
    }
  };

  /// The elements that the member has not begun: [next, upper.last), at least
  /// one while the node is in the list.
  class rest : public right_continuation {
  public:
    rest(right_continuation* older, range_fork& fork, std::size_t first, std::size_t last,
         pace::element_cost each, std::uint64_t alone) noexcept
      : right_continuation(older, ops), next(first), cost(each), alone_until(alone) {
      upper.fork = &fork;
      upper.last = last;
    }

    std::size_t next;
    upper_part upper;
    pace::element_cost cost;
    std::uint64_t alone_until; ///< ticks; it must not be divided before. 0: it may be
    std::uint64_t safepoints;  ///< of the member, as of its last look at the pace

  private:
    // The node may stay untaken after this, and be asked again later.
    static detail::delegation* delegate(right_continuation& self, detail::computation& origin,
                                        division how) noexcept {
      auto& r = static_cast<rest&>(self);
      BASAL_ASSERT(r.next < r.upper.last, "a node of a range stands for an element at least");
      BASAL_ASSERT(how.parts >= 2, "a thief takes one part of two or more");
      r.upper.first = r.upper.last - r.part(how);
      r.upper.known = r.cost;
      return new (std::nothrow) detail::typed_delegation<upper_part>(origin, r.upper);
    }

    /// Elements, one at least: as many as are done when the other parts are.
    std::size_t part(division how) const noexcept {
      const auto left = upper.last - next;
      const auto of_all = (left + how.parts - 1) / how.parts;
      if (cost == 0 || how.delay == 0)
        return of_all;
      const auto work = pace::work_of(cost, left);
      const auto each = (work - std::min(work, how.delay)) / how.parts;
      return std::clamp<std::uint64_t>(((each << 8) + cost / 2) / cost, 1, of_all);
    }

    static std::uint64_t expected(const right_continuation& self, std::uint64_t like) noexcept {
      auto& r = static_cast<const rest&>(self);
      return base::expected_work(r.cost, r.upper.last - r.next, like);
    }

    static bool is_better_alone(const right_continuation& self) noexcept {
      return static_cast<const rest&>(self).alone_until != 0;
    }

    static constexpr operations ops{&delegate, &expected, &is_better_alone};
  };

  /// As many as run_few() is for. With 16 a tree of empty leaves takes 0.83 of its time, with 2 a
  /// third; more than that was not measured.
  static constexpr std::size_t few_elements = 32;

  /// Leaves the node's frame early: an element failed, and those from `from` on are not wanted.
  struct unwinding_guard {
    range_fork& fork;
    member& self;
    std::size_t& from;
    bool armed = true;

    [[gnu::always_inline]] ~unwinding_guard() {
      if (armed) {
        fork.end_at(from);
        self.abandon();
      }
    }
  };

  /// A few elements that fork by themselves, as where a function calls itself for each: one by one,
  /// and as nothing is known of them but that, without a look at the time.
  void run_few(member& m, std::size_t first, std::size_t last) {
    {
      rest node{m.youngest_, *this, first, last, 0, 0};
      unwinding_guard guard{*this, m, first};
      m.youngest_ = &node;
      for (; last - first > 1; ++first) {
        node.next = first + 1;
        m.poll();
        if (node.is_taken()) [[unlikely]]
          break;
        body_(m, first, first + 1);
      }
      guard.armed = false;
      if (node.is_taken()) [[unlikely]] {
        share(m, body_, first, node, pace{first});
        return;
      }
      m.youngest_ = node.older();
    }
    m.poll();
    body_(m, first, last);
  }

  /// The whole range: divided, if it is worth a theft, unless that is known to make it slower.
  void run_all(member& m, std::size_t first, std::size_t last, pace steps) {
    const auto work = pace::work_of(site.cost(steps), last - first);
    if (!m.is_worth_an_offer(work)) {
      run(m, body_, first, last, steps);
      return;
    }
    const auto* who = &m.executor();
    const auto n = (last - first) << each_;
    const auto begun = m.now();
    const auto course = trial.begin(n, work, begun, who);
    const auto thefts = m.num_thefts();
    run(m, body_, first, last, steps,
        division_trial::is_alone(course) ? begun + trial.alone_for(course) : 0);
    if (!division_trial::is_timed(course)) [[likely]]
      return;
    const auto now = m.now();
    trial.end(course, n, now - begun, m.num_thefts() != thefts, now, who);
  }

  /// @param alone_until see `rest`
  /// @returns false if it did not reach `last`, since an element before this part has failed.
  bool run(member& m, Body& body, std::size_t first, std::size_t last, pace steps,
           std::uint64_t alone_until = 0) {
    if (last - first > 1) { // a member that gives its only element away would wait for it
      rest node{m.youngest_, *this, first, last, site.cost(steps), alone_until};
      unwinding_guard guard{*this, m, first};
      m.youngest_ = &node;
      node.safepoints = m.safepoints();
      if (alone_until == 0 && m.is_worth_an_offer(pace::work_of(node.cost, last - first)))
        [[unlikely]] {
        m.poll(); // the member's first look, if there was none yet
        node.safepoints = m.safepoints();
        m.offer();
        if (node.is_taken()) {
          guard.armed = false;
          return share(m, body, first, node, steps);
        }
      } else if (alone_until == 0) {
        m.note_refusal(pace::work_of(node.cost, last - first));
      }
      while (last - first > steps.step()) {
        node.next = first + steps.step();
        m.poll();
        first = step(m, body, first, node.next);
        if (node.is_taken()) [[unlikely]] {
          guard.armed = false;
          return share(m, body, first, node, steps);
        }
        if (first >= end_.load(std::memory_order_relaxed)) [[unlikely]]
          return false;
        if (steps.is_look_due(first, [&] { return m.now(); })) [[unlikely]] {
          steps = look(m, node, first, steps);
          if (node.is_taken()) {
            guard.armed = false;
            return share(m, body, first, node, steps);
          }
        }
      }
      // The last step leaves nothing to steal: without the node, what the body
      // forks is the next that may be.
      guard.armed = false;
      m.youngest_ = node.older();
    }
    m.poll();
    step(m, body, first, last);
    return true;
  }

  /// The pace looks at the clock, `site` learns from it, and what is left is
  /// offered if it would pay. The member knows the time from then on, too.
  [[gnu::noinline]] static pace look(member& m, rest& node, std::size_t first, pace steps) {
    const auto passed = m.safepoints() - std::exchange(node.safepoints, m.safepoints());
    if (passed > (first - steps.looked_at()) / steps.step())
      site.note_forks();
    const auto now = m.now();
    steps = steps.look(first, now, std::max(node.upper.last - first, m.least_left()));
    if (steps.is_news())
      site.learn(steps.measured(), node.upper.fork->each_);
    node.cost = site.cost(steps);
    node.next = first;
    if (now >= node.alone_until)
      node.alone_until = 0;
    if (node.upper.last - first == 1) // its member would give the last element away and wait
      return steps;
    if (node.alone_until == 0
        && m.is_worth_an_offer(pace::work_of(node.cost, node.upper.last - first)))
      m.offer();
    if (!node.is_taken())
      m.heed(now);
    return steps;
  }

  /// A thief took the upper part of the node's elements: does the others, from
  /// `first` on, with a node of their own, and merges.
  [[gnu::noinline, gnu::cold]] bool share(member& m, Body& body, std::size_t first, rest& node,
                                          pace steps) {
    const auto thefts = m.num_thefts();
    {
      unwinding_guard guard{*this, m, first};
      if (first < node.upper.first && !run(m, body, first, node.upper.first, steps)) {
        first = node.upper.first; // noted by whoever failed
        return false;
      }
      guard.armed = false;
    }
    BASAL_ASSERT(m.youngest_ == &node, "a body forks with the member that it was called with");
    m.youngest_ = node.older();
    const auto ended = m.num_thefts() == thefts ? m.now() : 0; // else what was left was divided
    m.await_merge(node);
    std::unique_ptr<detail::delegation> merged{node.delegation};
    if (merged->error)
      std::rethrow_exception(std::move(merged->error));
    if (ended != 0)
      m.note_ends(ended, *merged);
    return true;
  }

  /// Lowers the end to `element`, unless it is lower already.
  void end_at(std::size_t element) noexcept {
    // Relaxed: a hint to stop. The exception comes with the merges.
    auto end = end_.load(std::memory_order_relaxed);
    while (element < end && !end_.compare_exchange_weak(end, element, std::memory_order_relaxed)) {
    }
  }

  const std::size_t most_steps_;
  std::size_t least_; ///< elements in a step
  std::atomic<std::size_t> end_{0};

  static inline division_trial trial;
};

/// Calls `branch(i)`, or `branch(m, i)`, for every i in [0, n): a fork of n branches at the cost
/// of one, see range_fork. Branches must not write what others read or write;
/// results go where each branch puts its own. In order on this thread unless
/// stolen.
/// @throws the first exception in the order of branches; later ones may or may
///         not have run then
template <class Branch>
void fork_merge_n(member& m, std::size_t n, Branch&& branch) {
  auto body = [near = detail::near_to<std::size_t>(branch)](member& k, std::size_t first,
                                                            std::size_t last) {
    auto&& f = near.get();
    for (auto i = first; i != last; ++i)
      detail::call_with(f, k, i);
  };
  range_fork<decltype(body)>{body}.run(m, 0, n);
}

} // namespace basal::posse
