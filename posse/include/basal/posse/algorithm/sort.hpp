#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>

#include <boost/sort/pdqsort/pdqsort.hpp>

#include <basal/posse/detail/elements.hpp>
#include <basal/posse/detail/order.hpp>
#include <basal/posse/detail/pace.hpp>
#include <basal/posse/detail/range_site.hpp>
#include <basal/posse/member.hpp>
#include <basal/posse/pure.hpp>

namespace basal::posse {
namespace detail {

/// Quicksort whose halves are branches of the computation. Sorts in place. How elements compare,
/// which cannot be foretold, decides no branch of the program: numbers are always swapped, and of
/// other elements it is collected by blocks which are misplaced (Edelkamp and Weiss,
/// "BlockQuicksort", 2016), which leaves them nearly in their order. Small parts, and those whose
/// pivots were bad too often, go to Boost's pattern-defeating quicksort (Peters, 2021), which
/// branches no more, and needs n log n comparisons at worst.
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

  static constexpr bool is_number = std::is_arithmetic_v<value>;

  /// A pivot: a number is copied, since it is read again after each write to another.
  using held = std::conditional_t<is_number, value, std::iter_reference_t<Iterator>>;

  /// A part so small is sorted without a safepoint: 10 us, or 3 us if comparing takes a nanosecond.
  static constexpr std::size_t leaf = is_number ? 1024 : 256;

  /// Elements at each end whose misplaced ones are collected.
  static constexpr std::size_t block = 64;

  void run(member& m, Iterator first, std::size_t n, int bad_pivots_left) const {
    if (n <= leaf || bad_pivots_left == 0) {
      m.poll();
      sort_leaf(m, first, n);
      return;
    }
    if (is_sorted(m, first, n)) // elements in no order end this at once
      return;
    choose_pivot(first, n);
    const held pivot = *first;
    // [0]: pivot, [1, smaller]: less than it, then those that are not.
    const auto smaller = partition(m, advanced(first, 1), n - 1,
                                   [&](const value& x) -> bool { return less_(x, pivot); });
    std::iter_swap(first, advanced(first, smaller));
    const held middle = *advanced(first, smaller);
    auto right = smaller + 1;
    if (smaller < n / 8) // perhaps because many are equal: those are done with
      right += partition(m, advanced(first, right), n - right,
                         [&](const value& x) -> bool { return !less_(middle, x); });
    if (smaller < n / 8 ? n - right > n - n / 8 : smaller > n - n / 8)
      --bad_pivots_left;
    m.rated_fork_merge(
      (site.cost() * comparisons(n - right)) >> 8,
      [&, smaller](member& k) { run(k, first, smaller, bad_pivots_left); },
      [&, right](member& k) { run(k, advanced(first, right), n - right, bad_pivots_left); });
  }

  /// Learns what a comparison costs, now and then.
  void sort_leaf(member& m, Iterator first, std::size_t n) const {
    constexpr std::size_t enough = 64; // elements
    constexpr std::uint64_t seldom = 8;
    const bool learns = n >= enough && (site.cost() == 0 || m.safepoints() % seldom == 0);
    const auto begun = learns ? m.now() : 0;
    boost::sort::pdqsort_branchless(first, advanced(first, n), less_);
    if (learns)
      site.learn(static_cast<pace::element_cost>(
        std::min<std::uint64_t>(((m.now() - begun) << 8) / comparisons(n), pace::most_costly)));
  }

  /// About as many as it takes to sort n elements.
  static constexpr std::uint64_t comparisons(std::size_t n) noexcept {
    return n * std::uint64_t{std::bit_width(n)};
  }

  /// The cost of a comparison, with what comes with it.
  static inline constinit range_site site;

  bool is_sorted(member& m, Iterator first, std::size_t n) const {
    for (std::size_t i = 1; i < n; i += leaf) {
      m.poll();
      if (!std::is_sorted(advanced(first, i - 1), advanced(first, std::min(n, i + leaf)), less_))
        return false;
    }
    return true;
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

  /// Moves those of `n` elements to the front that are to be `before` the others.
  /// @returns how many they are
  template <class Before>
  std::size_t partition(member& m, Iterator first, std::size_t n, Before before) const {
    if constexpr (is_number)
      return swap_few(m, first, n, before);
    else
      return swap_misplaced(m, first, n, before);
  }

  /// Hoare's partition as long as few numbers are misplaced, as where nearly all are sorted: whole
  /// chunks that are in their place are then only read, by instructions for several numbers, and
  /// that they are is foretold. Lomuto's for what is left.
  template <class Before>
  std::size_t swap_few(member& m, Iterator first, std::size_t n, Before before) const {
    constexpr std::size_t few = chunk / 4; // one in two where nothing is sorted
    constexpr std::size_t a_pair = 32; // numbers that take Lomuto's as long as a pair takes here
    const auto at = [&](std::size_t i) { return advanced(first, i); };
    std::size_t left = 0, right = n; // [left, right) is left to do
    for (std::size_t pairs = 0;; ++pairs) {
      left += skip(m, right - left,
                   [&](std::size_t i) { return count_in_chunk(at(left + i), before) == chunk; });
      right -= skip(m, right - left, [&](std::size_t i) {
        return count_in_chunk(at(right - chunk - i), before) == 0;
      });
      if (right - left < 2 * chunk || pairs * a_pair > n - (right - left)
          || count_in_chunk(at(left), before) < chunk - few
          || count_in_chunk(at(right - chunk), before) > few)
        break;
      while (before(*at(left)))
        ++left;
      while (!before(*at(right - 1)))
        --right;
      std::iter_swap(at(left), at(right - 1));
      ++left;
      --right;
    }
    if (right - left < 2 * chunk) { // what is sorted stays so: Lomuto's would rotate it
      while (left != right && before(*at(left)))
        ++left;
      while (left != right && !before(*at(right - 1)))
        --right;
    }
    return left + swap_always(m, at(left), right - left, before);
  }

  /// Numbers that are looked at together.
  static constexpr std::size_t chunk = 16;

  template <class Before>
  static std::size_t count_in_chunk(Iterator first, Before before) {
    unsigned count = 0; // as large as most numbers, for vectors of both
    for (std::size_t i = 0; i != chunk; ++i)
      count += before(*advanced(first, i)) ? 1 : 0;
    return count;
  }

  /// @returns how many of n numbers, whole chunks, come before the first chunk that does not hold
  template <class Holds>
  static std::size_t skip(member& m, std::size_t n, Holds holds) {
    std::size_t done = 0;
    while (n - done >= chunk) {
      m.poll();
      for (const auto end = std::min(n, done + leaf); end - done >= chunk; done += chunk)
        if (!holds(done))
          return done;
    }
    return done;
  }

  /// Lomuto's partition.
  template <class Before>
  std::size_t swap_always(member& m, Iterator first, std::size_t n, Before before) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i != n;) {
      m.poll();
      for (const auto end = std::min(n, i + leaf); i != end; ++i) {
        const value x = *advanced(first, i);
        *advanced(first, i) = *advanced(first, count);
        *advanced(first, count) = x;
        count += before(x) ? 1 : 0;
      }
    }
    return count;
  }

  template <class Before>
  std::size_t swap_misplaced(member& m, Iterator first, std::size_t n, Before before) const {
    const auto at = [&](std::size_t i) { return advanced(first, i); };
    std::array<unsigned char, block> lefts, rights; // numbers, from the ends, of misplaced elements
    std::size_t left = 0, right = n;                // [left, right) is left to do
    std::size_t num_left = 0, num_right = 0, next_left = 0, next_right = 0;
    while (right - left > 2 * block) {
      m.poll();
      if (num_left == 0) {
        next_left = 0;
        for (std::size_t i = 0; i != block; ++i) {
          lefts[num_left] = static_cast<unsigned char>(i);
          num_left += !before(*at(left + i));
        }
      }
      if (num_right == 0) {
        next_right = 0;
        for (std::size_t i = 0; i != block; ++i) {
          rights[num_right] = static_cast<unsigned char>(i);
          num_right += before(*at(right - 1 - i));
        }
      }
      const auto count = std::min(num_left, num_right);
      for (std::size_t i = 0; i != count; ++i)
        std::iter_swap(at(left + lefts[next_left + i]), at(right - 1 - rights[next_right + i]));
      next_left += count;
      next_right += count;
      num_left -= count;
      num_right -= count;
      if (num_left == 0)
        left += block;
      if (num_right == 0)
        right -= block;
    }
    std::array<unsigned char, 2 * block> found;
    std::size_t num_found = 0;
    for (std::size_t i = 0; i != right - left; ++i) {
      found[num_found] = static_cast<unsigned char>(i);
      num_found += before(*at(left + i));
    }
    for (std::size_t i = 0; i != num_found; ++i)
      std::iter_swap(at(left + i), at(left + found[i]));
    return left + num_found;
  }

  Less& less_;
};

struct sorting_function : range_algorithm {
  template <class... Args>
  static consteval void refuse() {
    static_assert(
      sizeof...(Args) == 0,
      "sort and stable_sort take a range and less, which compares two elements; a projection is a "
      "part of it: sort(m, orders, [](const order& a, const order& b) { return a.id < b.id; })");
  }

protected:
  /// Whether elements can be given other places.
  template <class Range>
  static consteval bool check_elements() {
    using place = std::ranges::iterator_t<Range>;
    using value = std::ranges::range_value_t<Range>;
    constexpr bool can_move
      = std::indirectly_writable<place, value> || std::is_same_v<value, bool>; // another message's
    static_assert(
      can_move, "sort and stable_sort move the elements, which const ones, those of zip, and what "
                "a view makes do not allow: sort numbers by what they stand for, "
                "sort(m, places, [&](int a, int b) { return keys[a] < keys[b]; })");
    return can_move;
  }
};

struct sort_function : sorting_function {
  template <element_range Range, class Less = std::ranges::less>
  void operator()(member& m, Range&& range, Less less = {}) const {
    if constexpr (check_elements<Range>()) {
      auto elements = written_elements_of(range);
      auto order = order_of<std::ranges::range_value_t<Range>>(less);
      quicksort<decltype(elements), decltype(order)>{order}.run(m, elements, count_of(range));
    }
  }
};

} // namespace detail

/// `sort(where, range, less = ranges::less)`: sorts in place, without keeping
/// the order of equal elements, but with the same outcome on every number of
/// executors. n log n comparisons, no memory.
/// @param less orders strictly and weakly, as for std::sort; with another one, elements end in any
///        order, or the call does not end
/// @throws any exception of `less`; the elements are then in any order, and in each part that was
///         being sorted, by this executor or another one, Boost's pdqsort may leave one moved from
inline constexpr pure<detail::sort_function{}> sort{"sort"};

} // namespace basal::posse
