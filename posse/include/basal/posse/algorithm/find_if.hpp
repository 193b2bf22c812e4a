#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ranges>

#include <basal/posse/detail/elements.hpp>
#include <basal/posse/detail/near_function.hpp>
#include <basal/posse/detail/pace.hpp>
#include <basal/posse/pure.hpp>
#include <basal/posse/range_fork.hpp>

namespace basal::posse {
namespace detail {

/// Where a search for the first of `n` elements pauses: what lies far behind that element helps
/// nobody, and at the end of each window somebody waits. So the first few are short and get longer
/// quickly, and later ones have half the length of all before them. A rest that is little is added.
class search_windows {
public:
  /// @param shortest elements that are worth dividing; 0: nobody knows, and there is one window
  search_windows(std::size_t n, std::size_t shortest) noexcept
    : n_(n), shortest_(shortest), size_(shortest != 0 ? shortest : n) {
  }

  /// @returns n at last
  std::size_t end_of_next() noexcept {
    end_ = n_ - end_ <= size_ + std::max(4 * shortest_, size_ / 2) ? n_ : end_ + size_;
    size_ = std::min(2 * size_, std::max(8 * shortest_, end_ / 2));
    return end_;
  }

private:
  std::size_t n_;
  std::size_t shortest_;
  std::size_t size_;
  std::size_t end_ = 0;
};

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
      for (; last - i >= 4; i += 4)
        for (std::size_t next = 0; next != 4; ++next)
          if (holds_at(i + next))
            return i + next;
      while (i != last && !holds_at(i))
        ++i;
      return i;
    };
    using search = range_fork<decltype(body)>;
    const auto n = count_of(range);
    search_windows windows{n, search::elements_for_all(m, ticks_a_share)};
    for (std::size_t first = 0;;) {
      const auto last = windows.end_of_next();
      const auto found = search{body}.run(m, first, last);
      if (found != last || last == n)
        return advanced(std::ranges::begin(range), found);
      first = last;
    }
  }

  template <number Number, class Predicate>
  Number operator()(member& m, Number n, Predicate&& predicate) const {
    const auto numbers = numbers_below(n);
    return static_cast<Number>((*this)(m, numbers, predicate) - numbers.begin());
  }

private:
  /// Of the first window: some 8 us, several times what it takes to share it.
  static constexpr std::uint64_t ticks_a_share = 4 * pace::target;
};

} // namespace detail

/// `find_if(where, range, predicate)`: an iterator to the first element for
/// which `predicate(element)`, or `predicate(member&, element)`, holds, or the
/// range's end. Stops soon after it is found; elements behind it may have been
/// looked at, and what the predicate threw there is dropped. Calls that have begun
/// there are waited for: one that may take long calls `poll()` on its member, and
/// ends then. Once it is known what an element costs, they are not far behind it:
/// windows of elements, later ones half as long as all before, are gone through one by one.
/// Of the numbers below n, see for_each: the first one, or n (0 if n is negative).
inline constexpr pure<detail::find_if_function{}> find_if{"find_if"};

} // namespace basal::posse
