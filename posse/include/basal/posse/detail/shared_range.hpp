#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <basal/posse/detail/cheaply_aligned.hpp>
#include <basal/posse/detail/claimers.hpp>
#include <basal/posse/detail/delegation.hpp>
#include <basal/posse/detail/pace.hpp>
#include <basal/posse/detail/range_place.hpp>
#include <basal/posse/detail/range_units.hpp>
#include <basal/posse/detail/right_continuation.hpp>
#include <basal/posse/fwd.hpp>

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
class shared_range : public claimers, public cheaply_aligned {
public:
  /// @param place,body of the range, which outlives this
  /// @param site       of ranges of its size
  /// @param each       as for range_fork
  /// @param least_step elements that are claimed together, at least
  /// @param first,last the elements that nobody has begun
  /// @param middle     the first element of the thief's share
  /// @param known      what an element costs, as the owner has found out; 0: not known
  /// @param least      ticks of work, that a member takes from another; 0: any
  shared_range(range_place<void>& place, void* body, range_site& site, int each,
               std::size_t least_step, std::size_t first, std::size_t last, std::size_t middle,
               pace::element_cost known, std::uint64_t least) noexcept;

  /// For the member whose range it is: does its share, and then some of others'. Keeps what
  /// elements throw.
  void run(member& m, pace steps);

  /// For the thief, the same.
  void help(member& m);

  /// Unlinks the node, and waits for its thief, if there is one. A thief that does elements which
  /// nobody wants any more is told so.
  /// @returns null if there was none, or it was told so
  std::unique_ptr<delegation> merge(member& m, right_continuation& node);

  /// Once all have merged: ticks that those took who came after the first thief.
  std::uint64_t busy() const noexcept {
    return busy_.load(std::memory_order_relaxed);
  }

  /// Once all have merged: whether each of the two did its share, and no more.
  bool is_as_divided() const noexcept {
    return !was_balanced_ && !has_helpers_.load(std::memory_order_relaxed);
  }

private:
  /// In units, since two of them are a word.
  struct interval {
    std::uint32_t first = 0;
    std::uint32_t last = 0;

    std::uint32_t size() const noexcept {
      return last - first;
    }
  };

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
    bool claim(std::size_t step, bool ahead) noexcept;

    /// Elements that nobody has claimed and that are wanted.
    std::size_t left() const noexcept;

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
    bool take(share& from, std::size_t most, std::uint32_t least) noexcept;

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

  struct part;
  class rest;
  enum class outcome { nothing, little, taken };

  void help(member& m, share& mine);
  void do_all(member& m, void* body, share& mine, pace& steps, std::size_t& position);
  void do_with_node(member& m, void* body, share& mine, pace& steps, std::size_t& position);
  void do_step(member& m, void* body, share& mine, rest* node, pace& steps, std::size_t& position);
  void keep_failure(share& mine);
  void offer(member& m, const rest& node, const share& mine) noexcept;
  pace look(member& m, rest& node, share& mine, std::size_t position, pace steps);
  bool take_from_any(member& m, share& mine);
  outcome try_take(share& mine, std::uint64_t least);
  bool is_even() const noexcept;
  void put_off_look(pace& steps, std::size_t position, const share& mine) const noexcept;
  std::uint32_t ahead_of(std::uint32_t left) const noexcept;
  std::uint64_t work_for(const share& mine, const share& s) const noexcept;
  std::pair<share*, std::uint64_t> richest(const share& mine);

  // In the line that begins with the end of the range: what members read at each step.
  range_place<void>& place_;
  const range_units units_;
  const pace::element_cost usual_; ///< of an element, on average in ranges before it; 0: not known
  const bool is_uneven_;
  std::atomic<bool> has_helpers_{false}; ///< somebody came after the first thief. Relaxed: a hint
  const std::uint32_t least_;            ///< units that are claimed together, at least
  const std::uint32_t few_;              ///< units that take little time, on average
  const std::uint32_t least_ahead_;      ///< units of a claim that is longer than a step, at least
  const std::uint32_t most_ahead_;       ///< the same, at most

  const std::uint32_t least_step_;
  const std::int8_t each_;
  void* const body_;
  range_site& site_;

  share owner_;
  share thief_;
  const std::uint64_t least_taken_;
  bool was_balanced_ = false; ///< somebody took without being asked. With the mutex
  std::atomic<std::uint64_t> busy_{0};
};

} // namespace basal::posse::detail
