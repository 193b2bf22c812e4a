#pragma once

#include <cstddef>
#include <ranges>

#include <basal/posse/detail/elements.hpp>
#include <basal/posse/detail/near_function.hpp>
#include <basal/posse/pure.hpp>
#include <basal/posse/range_search.hpp>

namespace basal::posse {
namespace detail {

struct find_if_function : range_algorithm {
  template <element_range Range, class Predicate>
  std::ranges::borrowed_iterator_t<Range> operator()(member& m, Range&& range,
                                                     Predicate&& predicate) const {
    auto elements = elements_of(range);
    auto body = [=, near = near_to<decltype(*elements)>(predicate)](member& k, std::size_t first,
                                                                    std::size_t last) {
      auto&& holds = near.get();
      const auto holds_at = [&](std::size_t i) {
        return static_cast<bool>(call_with(holds, k, *advanced(elements, i)));
      };
      auto i = first;
      // As std::find_if does: where elements are cheap, a loop's own test is half of its time.
      // In full: g++ 12 leaves a loop of four as it is, and then spills registers at each element.
      for (; last - i >= 4; i += 4) {
        if (holds_at(i))
          return i;
        if (holds_at(i + 1))
          return i + 1;
        if (holds_at(i + 2))
          return i + 2;
        if (holds_at(i + 3))
          return i + 3;
      }
      while (i != last && !holds_at(i))
        ++i;
      return i;
    };
    const auto found = range_search<decltype(body)>{body}.run(m, 0, count_of(range));
    return advanced(std::ranges::begin(range), found);
  }

  template <number Number, class Predicate>
  Number operator()(member& m, Number n, Predicate&& predicate) const {
    const auto numbers = numbers_below(n);
    return static_cast<Number>((*this)(m, numbers, predicate) - numbers.begin());
  }
};

} // namespace detail

/// `find_if(where, range, predicate)`: an iterator to the first element for
/// which `predicate(element)`, or `predicate(member&, element)`, holds, or the
/// range's end. Stops soon after it is found; the executors that take part go through the elements
/// in their order, so few behind it were looked at, and what the predicate threw there is dropped.
/// Calls that have begun there are waited for; one on another executor than the caller's that may
/// take long calls `poll()` on its member, and ends then, unless another one before the match took
/// longer than the caller's.
/// Of the numbers below n, see for_each: the first one, or n (0 if n is negative).
inline constexpr pure<detail::find_if_function{}> find_if{"find_if"};

} // namespace basal::posse
