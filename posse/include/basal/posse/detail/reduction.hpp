#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <basal/executors/detail/assert.hpp>
#include <basal/posse/detail/cells.hpp>
#include <basal/posse/detail/pace.hpp>
#include <basal/posse/detail/range_site.hpp>
#include <basal/posse/fwd.hpp>
#include <basal/posse/member.hpp>

namespace basal::posse::detail {

/// A reduction over the elements [0, n) as a binary tree of forks whose shape
/// `Tree` decides from the number of elements alone, so that the result does
/// not depend on who did what. How far down the tree forks is another matter:
/// parts that are cheap, as the member's pace tells, are done without. As of a
/// range, what an element costs is known from before, by `range_site`; so a right
/// half that pays for a theft is offered when it is forked.
///
/// `Tree` has
///   std::size_t left_of(n)      elements in the left branch of n >= 2
///   value leaf(m, first, n)     the value of n >= 1 elements, as the tree of
///                               that shape gives it
///   value merge(left, right)
template <class Value, class Tree>
class reduction {
public:
  explicit reduction(const Tree& tree) noexcept : tree_(tree) {
  }

  /// @param n at least 1
  Value run(member& m, std::size_t first, std::size_t n) const {
    BASAL_ASSERT(n >= 1, "a reduction has a value at least");
    const auto known = site.cost();
    if (range_site::is_done_at_once(known, n))
      return run_at_once(m, first, n, pace::work_of(known, n));
    return run_as_tree(m, first, n);
  }

private:
  /// Of one member through the elements that it has not lost to others.
  struct course {
    pace steps;
    std::uint64_t safepoints; ///< of the member, as of the last look at the pace
    std::uint64_t forks;      ///< of the tree since then, each a safepoint
  };

  Value run_as_tree(member& m, std::size_t first, std::size_t n) const {
    course so_far{site.begin(first, first + n), m.safepoints(), 0};
    return run(m, first, n, so_far);
  }

  /// Elements that are known to take less than a step should, without forks. If it is timed, as of
  /// a range (short_range::run_timed), with them: the pace finds out what has become dear.
  Value run_at_once(member& m, std::size_t first, std::size_t n, std::uint64_t work) const {
    m.poll_lightly();
    const auto forked = m.safepoints();
    const bool by_chance = m.cells_->one_in_eight();
    if (site.is_timed(work, by_chance)) [[unlikely]]
      return run_timed(m, first, n, by_chance);
    Value result = tree_.leaf(m, first, n);
    if (m.safepoints() != forked) [[unlikely]]
      site.note_forks();
    return result;
  }

  [[gnu::noinline]] Value run_timed(member& m, std::size_t first, std::size_t n,
                                    bool by_chance) const {
    const auto begun = m.now();
    Value result = run_as_tree(m, first, n);
    const auto took = m.now() - begun;
    if (site.is_dear(took, n, n)) [[unlikely]]
      site.watch(took);
    else if (by_chance)
      site.note_whole(took, n);
    return result;
  }

  Value run(member& m, std::size_t first, std::size_t n, course& so_far) const {
    if (n <= so_far.steps.step()) {
      Value result = tree_.leaf(m, first, n);
      if (so_far.steps.is_look_due(first + n, [&] { return m.now(); })) [[unlikely]]
        look(m, first + n, so_far);
      return result;
    }
    const auto left = tree_.left_of(n);
    const auto each = site.cost(so_far.steps);
    ++so_far.forks;
    auto [a, b] = m.rated_fork_merge(
      pace::work_of(each, n - left),
      [&, first, left](member& k) { return run(k, first, left, so_far); },
      [&, first, left, n](member& k) {
        if (&k == &m) [[likely]]
          return run(k, first + left, n - left, so_far);
        return run(k, first + left, n - left); // stolen: a course of its own
      });
    return tree_.merge(std::move(a), std::move(b));
  }

  /// The pace looks at the clock, and `site` learns from it. Elements that fork pass more
  /// safepoints than the tree does.
  [[gnu::noinline]] static void look(member& m, std::size_t next, course& so_far) {
    auto& steps = so_far.steps;
    const auto passed = m.safepoints() - std::exchange(so_far.safepoints, m.safepoints());
    if (passed > std::exchange(so_far.forks, 0))
      site.note_forks();
    steps = steps.look(next, m.now());
    if (steps.is_news())
      site.learn(steps.measured());
  }

  static inline range_site site;

  const Tree& tree_;
};

} // namespace basal::posse::detail
