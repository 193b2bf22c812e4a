#pragma once

#include <cstddef>
#include <utility>

#include <basal/executors/detail/assert.hpp>
#include <basal/posse/detail/pace.hpp>
#include <basal/posse/fwd.hpp>
#include <basal/posse/member.hpp>

namespace basal::posse::detail {

/// A reduction over the elements [0, n) as a binary tree of forks whose shape
/// `Tree` decides from the number of elements alone, so that the result does
/// not depend on who did what. How far down the tree forks is another matter:
/// parts that are cheap, as the member's pace tells, are done without.
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
    pace steps{first};
    return run(m, first, n, steps);
  }

private:
  Value run(member& m, std::size_t first, std::size_t n, pace& steps) const {
    if (n <= steps.step()) {
      Value result = tree_.leaf(m, first, n);
      if (steps.is_look_due(first + n)) [[unlikely]]
        steps = steps.look(first + n);
      return result;
    }
    auto left = tree_.left_of(n);
    auto [a, b] = m.fork_merge([&, first, left](member& k) { return run(k, first, left, steps); },
                               [&, first, left, n](member& k) {
                                 if (&k == &m) [[likely]]
                                   return run(k, first + left, n - left, steps);
                                 return run(k, first + left, n - left); // stolen: a pace of its own
                               });
    return tree_.merge(std::move(a), std::move(b));
  }

  const Tree& tree_;
};

} // namespace basal::posse::detail
