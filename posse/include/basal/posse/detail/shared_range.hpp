#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/cpu_pause.hpp>
#include <basal/executors/detail/tick_clock.hpp>
#include <basal/posse/detail/cheaply_aligned.hpp>
#include <basal/posse/detail/claimers.hpp>
#include <basal/posse/detail/delegation.hpp>
#include <basal/posse/detail/near_function.hpp>
#include <basal/posse/detail/pace.hpp>
#include <basal/posse/detail/range_units.hpp>
#include <basal/posse/detail/right_continuation.hpp>
#include <basal/posse/detail/short_range.hpp>
#include <basal/posse/fwd.hpp>
#include <basal/posse/member.hpp>

namespace basal::posse::detail {

/// A range of which a thief has taken a part, see range_fork: from then on each member has a share
/// of its elements, and claims the next ones of that, in their order, step by step. A member whose
/// share is used up takes the upper half of another's, without asking its member. So all end at the
/// same time, whichever elements are the dear ones, and nothing waits for a member that does a long
/// one, or whose thread waits for a CPU. Who steals a member's node takes a part of its share.
///
/// By hysteresis::quantum nobody takes without being asked.
///
/// Source: intervals in one word, whose upper half who is done takes, as static stealing of loops
/// does in Intel's and LLVM's OpenMP; lazy binary splitting, see range_fork, for when others come.
///
/// Protocol: a share's interval is one atomic word. Its member alone removes the first elements,
/// and fills it when none is wanted; others remove the last ones. These two with the mutex, so
/// that with it each element is seen in one share. Relaxed: the word publishes nothing but itself.
template <class Body>
class shared_range : public claimers, public cheaply_aligned {
public:
  /// @param body       of the range, which outlives this
  /// @param site       of ranges of its size
  /// @param each       as for range_fork
  /// @param least_step elements that are claimed together, at least
  /// @param first,last the elements that nobody has begun
  /// @param middle     the first element of the thief's share
  /// @param known      what an element costs, as the owner has found out; 0: not known
  /// @param least      ticks of work, that a member takes from another; 0: any
  shared_range(Body& body, range_site& site, int each, std::size_t least_step, std::size_t first,
               std::size_t last, std::size_t middle, pace::element_cost known,
               std::uint64_t least) noexcept
    : body_(body),
      units_(first, last),
      least_step_(static_cast<std::uint32_t>(std::min(least_step, pace::longest_step))),
      usual_(site.cost(each)),
      each_(static_cast<std::int8_t>(each)),
      is_uneven_(site.is_uneven()),
      least_(units_.units_of(pace::least_of(least_step, usual_))),
      few_(units_.units_of(usual_ == 0 ? 1 : (little << 8) / usual_)),
      least_ahead_(is_even() ? units_.units_of(pace::step_within(pace::target, usual_)) : 0),
      most_ahead_(units_.units_of(pace::step_within(pace::longest_target, usual_))),
      site_(site),
      owner_(*this, {0, units_.unit_at(middle)}, known),
      thief_(*this, {units_.unit_at(middle), units_.unit_at(last)}, known),
      least_taken_(least) {
    this->begin_with(last);
    owner_.join();
    thief_.join();
  }

  /// For the member whose range it is: does its share, and then some of others'. Keeps what
  /// elements throw.
  /// @param body the member's own
  void run(member& m, Body& body, pace steps) {
    auto position = owner_.next();
    do_all(m, body, owner_, steps, position);
  }

  /// For the thief, the same.
  void help(member& m) {
    thief_.has_begun.store(true, std::memory_order_relaxed);
    help(m, thief_);
  }

  /// Unlinks the node, and waits for its thief, if there is one. A thief that does elements which
  /// nobody wants any more is told so.
  /// @returns null if there was none, or it was told so
  std::unique_ptr<delegation> merge(member& m, right_continuation& node) {
    BASAL_ASSERT(m.youngest_ == &node, "a body forks with the member that it was called with");
    if (!node.is_taken() || (limit() != units_.last() && are_all_behind())) {
      m.abandon();
      return nullptr;
    }
    m.youngest_ = node.older();
    m.await_merge(node);
    return std::unique_ptr<delegation>{node.delegation};
  }

  /// Once all have merged: ticks that those took who came after the first thief.
  std::uint64_t busy() const noexcept {
    return busy_.load(std::memory_order_relaxed);
  }

  /// Once all have merged: whether each of the two did its share, and no more.
  bool is_as_divided() const noexcept {
    return !was_balanced_ && !has_helpers_.load(std::memory_order_relaxed);
  }

private:
  using range = short_range<Body>;

  /// In units, since two of them are a word.
  struct interval {
    std::uint32_t first = 0;
    std::uint32_t last = 0;

    std::uint32_t size() const noexcept {
      return last - first;
    }
  };

  static constexpr std::uint32_t claims_if_even = 4; ///< of what is left of a share, about
  static constexpr std::uint32_t claims_if_not = 8;  ///< the same of elements that may be dear ones
  static constexpr std::uint64_t little = pace::target / 8; ///< ticks that a step's beginning costs

  /// A member's elements. A line of its own, which others read and write when theirs are used up.
  class alignas(64) share : public claimers::claimer {
  public:
    share(shared_range& range, interval elements, pace::element_cost known) noexcept
      : claimers::claimer(range), cost{known}, left_{elements} {
      this->begin_at(range.units_.element_at(elements.first));
    }

    /// Elements that are to be done next, if there are none that were claimed and are not done yet.
    /// Its member alone. Where elements are known to be uneven, no more than half of what is left,
    /// unless that is little by what they cost on average: they may be the dear ones.
    /// @param step  elements, at most
    /// @param ahead a part of what is left, if that is more: others can take the rest
    /// @returns false if nothing is left
    bool claim(std::size_t step, bool ahead) noexcept {
      if (this->first != this->last)
        return true;
      auto seen = left_.load(std::memory_order_relaxed);
      interval rest;
      do {
        this->first = this->last = in().units_.element_at(seen.first);
        if (seen.size() == 0 || this->first >= in().limit()) {
          this->stop();
          return false;
        }
        auto most = in().units_.units_of(step);
        if (ahead)
          most = std::max(most, in().ahead_of(seen.size()));
        const auto few = in().is_uneven_ ? std::max(in().least_, std::min(most, in().few_)) : most;
        const auto n = std::min(most, std::max(seen.size() / 2, few));
        rest = {n < seen.size() ? in().units_.end_of(seen.first, n) : seen.last, seen.last};
      } while (!left_.compare_exchange_weak(seen, rest, std::memory_order_relaxed));
      this->last = in().units_.element_at(rest.first);
      this->begin_at(this->first);
      return true;
    }

    /// Elements that nobody has claimed and that are wanted.
    std::size_t left() const noexcept {
      const auto seen = left_.load(std::memory_order_relaxed);
      const auto begin = in().units_.element_at(seen.first);
      return std::max(begin, std::min(in().units_.element_at(seen.last), in().limit())) - begin;
    }

    /// The first of them, or the end.
    std::size_t next() const noexcept {
      return in().units_.element_at(left_.load(std::memory_order_relaxed).first);
    }

    /// The same without those that thieves will come for.
    std::size_t unpromised() const noexcept {
      const auto all = left();
      const auto gone = promised_.load(std::memory_order_relaxed);
      return gone <= 0 ? all : all - std::min(all, static_cast<std::size_t>(gone));
    }

    /// So many more; fewer, if negative, when a thief has come.
    void promise(std::int64_t elements) noexcept {
      promised_.fetch_add(elements, std::memory_order_relaxed);
    }

    /// With the mutex: takes the last elements of `from`, half of them at most, for this one, in
    /// which none is wanted; its member alone.
    /// @param least units; no fewer
    /// @returns false if there are too few
    bool take(share& from, std::size_t most, std::uint32_t least) noexcept {
      auto seen = from.left_.load(std::memory_order_relaxed);
      interval taken;
      do {
        const auto n = std::min(in().units_.units_of(most), seen.size() - seen.size() / 2);
        if (n < least || seen.size() == 0)
          return false;
        taken = {in().units_.end_of(seen.first, seen.size() - n), seen.last};
      } while (!from.left_.compare_exchange_weak(seen, {seen.first, taken.first},
                                                 std::memory_order_relaxed));
      left_.store(taken, std::memory_order_relaxed);
      this->begin_at(in().units_.element_at(taken.first));
      return true;
    }

    /// Of an element, as its member has found out last; 0: not known. Relaxed: a hint.
    std::atomic<pace::element_cost> cost;

    /// Of the first thief's. Relaxed: a hint.
    std::atomic<bool> has_begun{false};

  private:
    shared_range& in() const noexcept {
      return static_cast<shared_range&>(this->all_);
    }

    std::atomic<interval> left_;
    std::atomic<std::int64_t> promised_{0};
  };

  /// The work of a thief that comes later: a part of the victim's share, if there still is one.
  struct part {
    shared_range* in;
    share* victim;
    std::size_t elements = 0;
    pace::element_cost known = 0; ///< to the victim; 0: not

    void operator()(member& m) const {
      share mine{*in, {}, known};
      {
        std::lock_guard lock{in->mutex_};
        if (!in->has_helpers_.load(std::memory_order_relaxed)) // a line that all read
          in->has_helpers_.store(true, std::memory_order_relaxed);
        mine.join();
        victim->promise(-static_cast<std::int64_t>(elements));
        mine.take(*victim, elements, 1);
      }
      in->help(m, mine);
      std::lock_guard lock{in->mutex_};
      mine.leave();
    }
  };

  /// The node of a member that goes through its share: stands for what is left of that.
  class rest : public right_continuation {
  public:
    rest(right_continuation* older, shared_range& in, share& its, pace::element_cost each) noexcept
      : right_continuation(older, ops), thief{&in, &its}, cost(each) {
    }

    part thief; ///< its own from the theft on
    pace::element_cost cost;
    std::uint64_t steps = 0;      ///< that its member has done since ...
    std::uint64_t safepoints = 0; ///< ... it had passed so many

  private:
    static detail::delegation* delegate(right_continuation& self, computation& origin,
                                        division how) noexcept {
      auto& r = static_cast<rest&>(self);
      r.thief.known = r.cost;
      r.thief.elements
        = range::part_of(std::max<std::size_t>(1, r.thief.victim->unpromised()), r.cost, how);
      return new (std::nothrow) typed_delegation<part, part>(origin, r.thief);
    }

    static std::uint64_t expected(const right_continuation& self, std::uint64_t like) noexcept {
      const auto& r = static_cast<const rest&>(self);
      if (r.thief.victim->left() == 0)
        return 0; // others took them: what the body forks is all there is
      const auto work = range::expected_work(r.cost, r.thief.victim->unpromised(), like);
      return r.cost != 0 ? std::max<std::uint64_t>(1, work) : work; // 0: not known
    }

    static constexpr operations ops{&delegate, &expected};
  };

  void help(member& m, share& mine) {
    auto near = near_to<std::size_t, std::size_t>(body_);
    auto&& body = near.get();
    // Where nothing is known, the clock is read from the first step on.
    const auto known = mine.cost.load(std::memory_order_relaxed);
    const auto cost = known != 0 ? known : site_.cost(each_);
    const auto left = mine.left();
    const auto n = left != 0 ? left : pace::longest_step; // it will take some of others'
    auto steps = cost != 0 ? pace{0, n, cost, n, least_step_} : pace{0, 1, least_step_};
    std::size_t position = 0;
    do_all(m, body, mine, steps, position);
  }

  /// Until there is nothing left to take.
  /// @param position of the pace, which counts the member's elements only
  void do_all(member& m, Body& body, share& mine, pace& steps, std::size_t& position) {
    do {
      // A step, if the rest is to be offered to others first.
      while (mine.claim(steps.step(), is_even() && !m.has_idle_others()))
        if (mine.left() == 0) // without a node, what the body forks is the next to be stolen
          do_step(m, body, mine, nullptr, steps, position);
        else
          do_with_node(m, body, mine, steps, position);
    } while (take_from_any(m, mine));
  }

  /// Goes on with what was claimed, and with more while others may come for the rest: until it has
  /// claimed the last elements, or somebody has come, and all is done.
  void do_with_node(member& m, Body& body, share& mine, pace& steps, std::size_t& position) {
    rest node{m.youngest_, *this, mine, site_.cost(steps)};
    m.youngest_ = &node;
    put_off_look(steps, position, mine);
    guarded(mine, [&] {
      m.poll(); // the member's first look, if there was none yet
      node.safepoints = m.safepoints();
      offer(m, node, mine);
    });
    // As it begins, the rest is offered to others before it is worked on.
    while (!node.is_taken()) {
      if (mine.first != mine.last) // else the poll has failed
        do_step(m, body, mine, &node, steps, position);
      if (!mine.claim(steps.step(), true) || mine.left() == 0)
        break;
    }
    if (node.is_taken()) {
      mine.promise(static_cast<std::int64_t>(node.thief.elements));
      do_all(m, body, mine, steps, position);
    }
    if (const auto merged = merge(m, node); merged != nullptr && merged->ended_at != 0)
      busy_.fetch_add(merged->ended_at - merged->begun_at, std::memory_order_relaxed);
  }

  /// @param node null: nothing is left to be stolen
  void do_step(member& m, Body& body, share& mine, rest* node, pace& steps, std::size_t& position) {
    guarded(mine, [&] {
      m.poll();
      range::step(m, body, mine.first, mine.last);
      position += mine.last - mine.first;
      mine.first = mine.last;
      if (node == nullptr)
        return;
      ++node->steps;
      if (steps.is_look_due(position, [&] { return m.now(); })) [[unlikely]]
        steps = look(m, *node, mine, position, steps);
    });
  }

  /// Keeps what `f` throws, as of the next element that is to be done.
  template <class F>
  [[gnu::always_inline]] inline void guarded(share& mine, F f) {
    try {
      f();
    } catch (...) {
      const auto at = mine.first != mine.last ? mine.first : mine.next();
      mine.first = mine.last;
      if (at < limit())
        fail(at, std::current_exception());
    }
  }

  void offer(member& m, const rest& node, const share& mine) noexcept {
    const auto work = pace::work_of(node.cost, mine.unpromised());
    if (node.is_taken())
      return;
    if (m.is_worth_an_offer(work))
      m.offer();
    else
      m.note_refusal(work);
  }

  /// As of a range.
  [[gnu::noinline]] pace look(member& m, rest& node, share& mine, std::size_t position,
                              pace steps) {
    const auto passed = m.safepoints() - std::exchange(node.safepoints, m.safepoints());
    if (passed > std::exchange(node.steps, 0))
      range::note_forks();
    const auto now = m.now();
    steps = steps.look(position, now, std::max(mine.left(), m.least_left()));
    put_off_look(steps, position, mine);
    if (usual_ == 0 && steps.is_news())
      site_.learn(steps.measured(), each_);
    node.cost = site_.cost(steps);
    mine.cost.store(node.cost, std::memory_order_relaxed);
    if (!node.is_taken() && mine.left() != 0
        && m.is_worth_an_offer(pace::work_of(node.cost, mine.unpromised())))
      m.offer();
    if (!node.is_taken())
      m.heed(now);
    return steps;
  }

  /// Half of what is left to the member that has most, if it is worth it. Where elements are known
  /// to be uneven, what is thought to be less than that is left to its member for as long as it is
  /// thought to take, and is taken if it is still there then.
  /// @returns false if there is nothing
  bool take_from_any(member& m, share& mine) {
    const auto least = m.least_taken();
    if (least == 0)
      return false;
    auto found = try_take(mine, std::max(least, least_taken_));
    if (found == outcome::little && is_uneven_ && least_taken_ == 0) {
      // Not the executor's clock, which need not go on in a test.
      const auto begun = executors::tick_clock::now();
      do {
        for (int i = 0; i != 4;
             ++i) // 0.2 us: others' cache lines are not to be asked for all the time
          executors::cpu_pause();
        found = try_take(mine, executors::tick_clock::now() - begun < least ? least : 1);
      } while (found == outcome::little);
    }
    return found == outcome::taken;
  }

  enum class outcome { nothing, little, taken };

  /// @param least ticks of work
  outcome try_take(share& mine, std::uint64_t least) {
    // Of two, without the mutex: mostly both are done at the same time.
    if (!has_helpers_.load(std::memory_order_relaxed))
      if (const auto work = work_for(mine, &mine == &owner_ ? thief_ : owner_); work < least)
        return work == 0 ? outcome::nothing : outcome::little;
    std::lock_guard lock{mutex_};
    const auto [most, work] = richest(mine);
    if (most == nullptr || work < least)
      return most == nullptr ? outcome::nothing : outcome::little;
    if (!mine.take(*most, units_.elements(), least_))
      return outcome::nothing;
    was_balanced_ = true;
    return outcome::taken;
  }

  /// Whether elements are known to cost about the same.
  bool is_even() const noexcept {
    return usual_ != 0 && !is_uneven_;
  }

  /// Where it would tell little news, there is no look for as long as the next claim should take.
  void put_off_look(pace& steps, std::size_t position, const share& mine) const noexcept {
    const auto most = pace::step_within(pace::longest_target, usual_);
    if (is_even())
      steps.put_off_look(position + std::min(mine.left() / claims_if_even, most));
  }

  /// Units that are claimed together.
  std::uint32_t ahead_of(std::uint32_t left) const noexcept {
    const auto claims = is_even() ? claims_if_even : claims_if_not;
    return std::min(std::max(left / claims, least_ahead_), most_ahead_);
  }

  /// Ticks that what is left of a share will take; very many, if that is not known. For the owner
  /// there is nothing in the share of a thief that has not begun: it takes all that back, in order.
  std::uint64_t work_for(const share& mine, const share& s) const noexcept {
    if (&s == &thief_ && &mine == &owner_ && !s.has_begun.load(std::memory_order_relaxed))
      return 0;
    const auto left = s.left();
    const auto cost = std::max(s.cost.load(std::memory_order_relaxed), usual_);
    return left == 0   ? 0
           : cost != 0 ? std::max<std::uint64_t>(1, pace::work_of(cost, left))
                       : ~0ull;
  }

  /// With the mutex: of the first few, whose cache lines that takes, and its ticks of work.
  std::pair<share*, std::uint64_t> richest(const share& mine) {
    constexpr int enough = 16;
    std::pair<share*, std::uint64_t> result{nullptr, 0};
    int seen = 0;
    this->for_each_claimer([&](claimers::claimer& c) {
      auto& s = static_cast<share&>(c);
      if (&s == &mine)
        return true;
      if (const auto work = work_for(mine, s); work > result.second)
        result = {&s, work};
      return ++seen != enough;
    });
    return result;
  }

  // In the line that begins with the end of the range: what members read at each step.
  Body& body_;
  const range_units units_;
  const std::uint32_t least_step_;
  const pace::element_cost usual_; ///< of an element, on average in ranges before it; 0: not known
  const std::int8_t each_;
  const bool is_uneven_;
  std::atomic<bool> has_helpers_{false}; ///< somebody came after the first thief. Relaxed: a hint
  const std::uint32_t least_;            ///< units that are claimed together, at least
  const std::uint32_t few_;              ///< units that take little time, on average
  const std::uint32_t least_ahead_;      ///< units of a claim that is longer than a step, at least
  const std::uint32_t most_ahead_;       ///< the same, at most
  range_site& site_;

  share owner_;
  share thief_;
  const std::uint64_t least_taken_;
  bool was_balanced_ = false; ///< somebody took without being asked. With the mutex
  std::atomic<std::uint64_t> busy_{0};
};

} // namespace basal::posse::detail
