#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>

#include <boost/sort/pdqsort/pdqsort.hpp>

#include <basal/posse/detail/elements.hpp>
#include <basal/posse/detail/order.hpp>
#include <basal/posse/pure.hpp>

namespace basal::posse {
namespace detail {

/// Quicksort whose halves are branches; small parts, and those whose pivots
/// were bad too often, go to Boost's pattern-defeating quicksort (Peters 2021),
/// which needs n log n comparisons at worst. Sorts in place.
template <class Iterator, class Less>
class quicksort {
public:
  explicit quicksort(Less& less) noexcept : less_(less) {
  }

  void run(member& m, Iterator first, std::size_t n) const {
    run(m, first, n, static_cast<int>(std::bit_width(n)));
  }

private:
  using value = std::iter_value_t<Iterator>;

  /// A part so small is sorted without a safepoint: 10-50 us.
  static constexpr std::size_t leaf = std::is_arithmetic_v<value> ? 4096 : 256;

  /// Elements partitioned between two safepoints.
  static constexpr std::size_t stride = std::is_arithmetic_v<value> ? 4096 : 256;

  void run(member& m, Iterator first, std::size_t n, int bad_pivots_left) const {
    if (n <= leaf || bad_pivots_left == 0) {
      m.poll();
      boost::sort::pdqsort(first, advanced(first, n), less_);
      return;
    }
    choose_pivot(first, n);
    auto& pivot = *first;
    // [0]: pivot, [1, smaller]: less than it, then those that are not.
    auto smaller
      = partition(m, advanced(first, 1), n - 1, pivot,
                  [this](const value& x, const value& p) -> bool { return less_(x, p); });
    std::iter_swap(first, advanced(first, smaller));
    auto& middle = *advanced(first, smaller);
    auto right = smaller + 1;
    if (smaller < n / 8) // perhaps because many are equal: those are done with
      right += partition(m, advanced(first, right), n - right, middle,
                         [this](const value& x, const value& p) -> bool { return !less_(p, x); });
    if (smaller < n / 8 ? n - right > n - n / 8 : smaller > n - n / 8)
      --bad_pivots_left;
    m.fork_merge(
      [&, smaller](member& k) { run(k, first, smaller, bad_pivots_left); },
      [&, right](member& k) { run(k, advanced(first, right), n - right, bad_pivots_left); });
  }

  /// Moves the median of three medians of three to the front.
  void choose_pivot(Iterator first, std::size_t n) const {
    auto at = [&](std::size_t i) { return advanced(first, i); };
    auto sort2 = [&](Iterator a, Iterator b) {
      if (less_(*b, *a))
        std::iter_swap(a, b);
    };
    auto sort3 = [&](Iterator a, Iterator b, Iterator c) {
      sort2(a, b);
      sort2(b, c);
      sort2(a, b);
    };
    auto eighth = n / 8;
    for (std::size_t part : {eighth, 4 * eighth, 7 * eighth})
      sort3(at(part - 1), at(part), at(part + 1));
    sort3(at(eighth), at(4 * eighth), at(7 * eighth));
    std::iter_swap(first, at(4 * eighth));
  }

  /// Moves the elements that are `before` the pivot to the front (Lomuto).
  /// @returns how many they are
  template <class Before>
  std::size_t partition(member& m, Iterator first, std::size_t n, const value& pivot,
                        Before before) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i != n;) {
      m.poll();
      auto end = std::min(n, i + stride);
      if constexpr (is_branch_free<Less, value>) {
        const value p = pivot;
        for (; i != end; ++i) {
          // Always swaps, since what cannot be foretold costs more.
          value x = *advanced(first, i);
          *advanced(first, i) = *advanced(first, count);
          *advanced(first, count) = x;
          count += before(x, p);
        }
      } else {
        for (; i != end; ++i)
          if (before(*advanced(first, i), pivot)) {
            if (i != count)
              std::iter_swap(advanced(first, i), advanced(first, count));
            ++count;
          }
      }
    }
    return count;
  }

  Less& less_;
};

struct sort_function {
  template <element_range Range, class Less = std::ranges::less>
  void operator()(member& m, Range&& range, Less less = {}) const {
    auto elements = written_elements_of(range);
    auto order = order_of<std::ranges::range_value_t<Range>>(less);
    quicksort<decltype(elements), decltype(order)>{order}.run(m, elements, count_of(range));
  }
};

} // namespace detail

/// `sort(where, range, less = ranges::less)`: sorts in place, without keeping
/// the order of equal elements, but with the same outcome on every number of
/// executors. n log n comparisons, no memory.
/// @throws any exception of `less`; the elements are then in any order, except that
///         Boost's pdqsort may leave one of them moved from
inline constexpr pure<detail::sort_function{}> sort{"sort"};

} // namespace basal::posse
