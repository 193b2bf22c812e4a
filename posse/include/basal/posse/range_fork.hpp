#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
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
#include <basal/posse/detail/shared_range.hpp>
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
/// it has. From the theft on it is a `shared_range`, whose members balance what is left.
///
/// If the cost of elements is known, by `range_site` or by now, the range is offered at its
/// beginning and at each look of its pace, if the rest would pay for a theft.
///
/// Sources: lazy binary splitting (Tzannes, Caragea, Barua, Vishkin, PPoPP
/// 2010) for splitting on demand; `pace` for the steps.
///
/// `Body` is called as `body(member&, first, last)`, does the elements [first, last) and returns
/// nothing. Calls for different elements run at the same time. Where it has a constant
/// `elements_are_unlike`, what some elements take tells nothing of others.
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
  /// @param least_part of the whole range, that a member takes from another when its own is done,
  ///                   as its reciprocal: where it costs much to put parts together; 0: any
  explicit range_fork(Body body, int each = 0, std::size_t most_steps = 0,
                      std::size_t least_step = 1, std::uint64_t least_part = 0) noexcept
    : base(std::move(body), each),
      most_steps_(most_steps),
      least_(least_step),
      least_part_(least_part) {
  }

  range_fork(const range_fork&) = delete;
  range_fork& operator=(const range_fork&) = delete;

  /// Does the elements [first, last). Once. Not inlined: what its caller does besides would share
  /// the registers with it, and a backtracking search by map_reduce took 1.5 times as long.
  /// @throws any exception of the body; cancelled
  [[gnu::noinline]] void run(member& m, std::size_t first, std::size_t last) {
    BASAL_ASSERT(first <= last, "a range ends behind its beginning");
    if (first == last)
      return;
    if constexpr (requires { Body::elements_are_unlike; })
      base::note_forks();
    if (last - first <= few_elements && base::has_forks()) {
      run_few(m, first, last);
      return;
    }
    this->choose_site(last - first);
    if (most_steps_ != 0)
      least_ = (last - first) / (most_steps_ * m.most_executors());
    jump found;
    if (!this->run_if_short(m, first, last, found))
      run_all(m, first, last, this->begin(m, first, last, found, least_));
    this->end(m, found);
  }

private:
  using base = detail::short_range<Body>;
  using shared = detail::shared_range<Body>;
  using base::body_;
  using base::each_;
  using base::site;
  using base::step;
  using typename base::jump;

  /// The thief's work.
  struct upper_part {
    shared* in;

    void operator()(member& m) const {
      in->help(m);
    }
  };

  /// The elements that the member has not begun: [next, end), at least
  /// one while the node is in the list.
  class rest : public right_continuation {
  public:
    rest(right_continuation* older, range_fork& fork, std::size_t first, std::size_t last,
         pace::element_cost each, std::uint64_t alone) noexcept
      : right_continuation(older, ops),
        next(first),
        end(last),
        range(&fork),
        cost(each),
        alone_until(alone) {
    }

    std::size_t next;
    std::size_t end;
    range_fork* range;
    pace::element_cost cost;
    std::uint64_t alone_until; ///< ticks; it must not be divided before. 0: it may be
    std::uint64_t safepoints;  ///< of the member, as of its last look at the pace

  private:
    // The node may stay untaken after this, and be asked again later.
    static detail::delegation* delegate(right_continuation& self, detail::computation& origin,
                                        division how) noexcept {
      auto& r = static_cast<rest&>(self);
      BASAL_ASSERT(r.next < r.end, "a node of a range stands for an element at least");
      auto& f = *r.range;
      const auto left = r.end - r.next;
      f.choose_site(left); // a few elements that fork have no use for it before
      f.shared_.reset(new (std::nothrow)
                        shared(f.body_, f.site(), f.each_, f.least_, r.next, r.end,
                               pace::end_of(r.next, left - base::part_of(left, r.cost, how)),
                               r.cost, f.least_part_ != 0 ? f.expected_ / f.least_part_ : 0));
      if (f.shared_ == nullptr)
        return nullptr;
      upper_part upper{f.shared_.get()};
      return new (std::nothrow) detail::typed_delegation<upper_part, upper_part>(origin, upper);
    }

    static std::uint64_t expected(const right_continuation& self, std::uint64_t like) noexcept {
      auto& r = static_cast<const rest&>(self);
      return base::expected_work(r.cost, r.end - r.next, like);
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
        if (fork.shared_ != nullptr)
          fork.shared_->end_at(from);
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
      while (last - first > 1 && !node.is_taken()) {
        node.next = first + 1;
        m.poll();
        body_(m, first, first + 1);
        first = node.next;
      }
      guard.armed = false;
      if (node.is_taken()) [[unlikely]] {
        share(m, body_, node, pace{first});
        return;
      }
      m.youngest_ = node.older();
    }
    m.poll();
    body_(m, first, last);
  }

  /// The whole range: divided, if it is worth a theft, unless that is known to make it slower.
  void run_all(member& m, std::size_t first, std::size_t last, pace steps) {
    const auto known = site().cost(steps);
    const auto work = expected_ = pace::work_of(known, last - first);
    begun_ = m.now();
    if (!m.is_worth_an_offer(work) || !m.has_others()) {
      run(m, body_, first, last, steps);
      learn(m.now(), last - first);
      return;
    }
    const auto* who = &m.executor();
    const auto n = (last - first) << each_;
    auto& trial = trials[range_sites::class_of(last - first)];
    const auto course = trial.begin(n, work, begun_, who);
    const auto thefts = m.num_thefts();
    run(m, body_, first, last, steps,
        division_trial::is_alone(course) ? begun_ + trial.alone_for(course) : 0);
    const auto now = m.now();
    learn(now, last - first);
    if (division_trial::is_timed(course)) [[unlikely]]
      trial.end(course, n, now - begun_, m.num_thefts() != thefts, now, who);
  }

  /// Of all elements together: the first ones, or the last, tell little of what others cost.
  void learn(std::uint64_t now, std::size_t n) const noexcept {
    site().learn(pace::cost_of(busy_ != 0 ? busy_ : now - begun_, n), each_);
  }

  /// @param alone_until see `rest`
  void run(member& m, Body& body, std::size_t first, std::size_t last, pace steps,
           std::uint64_t alone_until = 0) {
    if (last - first > 1) { // a member that gives its only element away would wait for it
      rest node{m.youngest_, *this, first, last, site().cost(steps), alone_until};
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
          begun_ = m.now(); // the theft is no element's cost
          share(m, body, node, steps);
          return;
        }
      } else if (alone_until == 0) {
        m.note_refusal(pace::work_of(node.cost, last - first));
      }
      while (last - first > steps.step()) {
        node.next = pace::end_of(first, steps.step());
        m.poll();
        first = step(m, body, first, node.next);
        if (node.is_taken()) [[unlikely]] {
          guard.armed = false;
          share(m, body, node, steps);
          return;
        }
        if (steps.is_look_due(first, [&] { return m.now(); })) [[unlikely]] {
          steps = look(m, node, first, steps);
          if (node.is_taken()) {
            guard.armed = false;
            share(m, body, node, steps);
            return;
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
  }

  /// The pace looks at the clock, `site` learns from it, and what is left is
  /// offered if it would pay. The member knows the time from then on, too.
  [[gnu::noinline]] static pace look(member& m, rest& node, std::size_t first, pace steps) {
    const auto& fork = *node.range;
    const auto passed = m.safepoints() - std::exchange(node.safepoints, m.safepoints());
    if (passed > steps.steps_before(first))
      base::note_forks();
    const auto now = m.now();
    steps = steps.look(first, now, std::max(node.end - first, m.least_left()));
    if (fork.expected_ == 0 && steps.is_news())
      fork.site().learn(steps.measured(), fork.each_);
    node.cost = fork.site().cost(steps);
    if (node.cost != 0)
      node.cost = std::max(node.cost, fork.usual(now, node.end - first));
    node.next = first;
    if (now >= node.alone_until)
      node.alone_until = 0;
    if (node.end - first == 1) // its member would give the last element away and wait
      return steps;
    if (node.alone_until == 0 && m.is_worth_an_offer(pace::work_of(node.cost, node.end - first)))
      m.offer();
    if (!node.is_taken())
      m.heed(now);
    return steps;
  }

  /// Cost of each of the `left` last elements if all take as long as they usually do; 0: it is not
  /// known, or they take longer.
  pace::element_cost usual(std::uint64_t now, std::size_t left) const noexcept {
    const auto passed = now - begun_;
    return expected_ > passed ? pace::cost_of(expected_ - passed, left) : 0;
  }

  /// A thief took the upper part of the node's elements: does the others, and merges.
  [[gnu::noinline, gnu::cold]] void share(member& m, Body& body, rest& node, pace steps) {
    shared_->run(m, body, steps);
    const auto ended = m.now();
    const auto merged = shared_->merge(m, node);
    shared_->rethrow_failure();
    if (merged == nullptr)
      return;
    if (merged->ended_at != 0 && begun_ != 0) {
      busy_ = ended - begun_ + (merged->ended_at - merged->begun_at) + shared_->busy();
      const auto apart = std::max(ended, merged->ended_at) - std::min(ended, merged->ended_at);
      site().note_ends(apart, std::max(m.least_taken(), busy_ / 16));
    }
    if (shared_->is_as_divided())
      m.note_ends(ended, *merged);
  }

  const std::size_t most_steps_;
  std::size_t least_; ///< elements in a step
  const std::uint64_t least_part_;
  std::uint64_t expected_ = 0; ///< ticks, of all elements, by ranges before this one; 0: not known
  std::uint64_t begun_ = 0;    ///< ticks; 0: of a few elements that fork it is not known
  std::uint64_t busy_ = 0;     ///< ticks, of all members together, if it was divided
  std::unique_ptr<shared> shared_; ///< from the theft on

  /// For ranges of each size.
  static inline std::array<division_trial, range_sites::classes> trials;
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
