#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

#include <basal/posse/detail/elements.hpp>
#include <basal/posse/detail/fold.hpp>
#include <basal/posse/detail/order.hpp>
#include <basal/posse/detail/reduction.hpp>
#include <basal/posse/pure.hpp>

namespace basal::posse {
namespace detail {

/// The element of some that is wanted.
enum class extreme { first_least, first_greatest, last_greatest };

/// Whether, of two elements that can be ordered, the one that comes later is wanted.
template <extreme Wanted, class Less, class T>
[[gnu::always_inline]] inline bool is_later_of_ordered(Less& less, const T& earlier,
                                                       const T& later) {
  if constexpr (Wanted == extreme::first_least)
    return static_cast<bool>(std::invoke(less, later, earlier));
  else if constexpr (Wanted == extreme::first_greatest)
    return static_cast<bool>(std::invoke(less, earlier, later));
  else
    return !std::invoke(less, later, earlier);
}

/// The same where there may be NaNs, which are wanted where there is nothing else: so it makes no
/// difference which elements are compared first.
template <extreme Wanted, class Less, class T>
[[gnu::always_inline]] inline bool is_later(Less& less, const T& earlier, const T& later) {
  if constexpr (std::is_floating_point_v<T> && is_branch_free<std::remove_const_t<Less>, T>)
    if (earlier != earlier || later != later)
      return earlier != earlier && later == later;
  return is_later_of_ordered<Wanted>(less, earlier, later);
}

/// The tree that finds it, as an index.
template <extreme Wanted, class Elements, class Less>
class extreme_tree {
public:
  using value = std::size_t;

  extreme_tree(Elements elements, Less& less) noexcept : elements_(elements), less_(less) {
  }

  static constexpr std::size_t left_of(std::size_t n) noexcept {
    return (n + 1) / 2;
  }

  value leaf(member&, std::size_t first, std::size_t n) const {
    return index_among(first, n);
  }

  value merge(value a, value b) const {
    return is_later<Wanted>(less_, *advanced(elements_, a), *advanced(elements_, b)) ? b : a;
  }

  std::size_t index_of(value x) const noexcept {
    return x;
  }

  std::size_t index_among(std::size_t first, std::size_t n) const {
    constexpr std::size_t parts = 4; // by turns, as the streams of block_fold
    if (n < least_by_turns) {
      auto best = first;
      for (auto i = first + 1; i != first + n; ++i)
        prefer(best, i);
      return best;
    }
    // Powers of two apart, all would compete for one set of a cache.
    constexpr std::size_t line = 16;
    const auto size = n / parts >= 4 * line ? n / parts - line : n / parts;
    std::size_t best[parts];
    for (std::size_t p = 0; p != parts; ++p)
      best[p] = first + p * size;
    for (std::size_t i = 1; i != size; ++i)
      for (std::size_t p = 0; p != parts; ++p)
        prefer(best[p], first + p * size + i);
    for (auto i = parts * size; i != n; ++i)
      prefer(best[parts - 1], first + i);
    for (std::size_t p = 1; p != parts; ++p)
      prefer(best[0], best[p]);
    return best[0];
  }

private:
  void prefer(std::size_t& best, std::size_t i) const {
    if (is_later<Wanted>(less_, *advanced(elements_, best), *advanced(elements_, i)))
      best = i;
  }

  Elements elements_;
  Less& less_;
};

/// The same of numbers in memory: vector instructions find the value of each block, and at last it
/// is looked for in the block that it comes from.
template <extreme Wanted, class T, class Less>
class extreme_number_tree {
public:
  struct value {
    T number;
    std::size_t first; ///< of a block
    std::size_t n;
  };

  extreme_number_tree(const T* numbers, Less& less) noexcept : numbers_(numbers), less_(less) {
  }

  static constexpr std::size_t left_of(std::size_t n) noexcept {
    return (n + 1) / 2;
  }

  value leaf(member&, std::size_t first, std::size_t n) const {
    auto best = of_block(first, std::min(n, block));
    for (auto done = block; done < n; done += block)
      best = merge(best, of_block(first + done, std::min(n - done, block)));
    return best;
  }

  value merge(const value& a, const value& b) const {
    return is_later<Wanted>(less_, a.number, b.number) ? b : a;
  }

  std::size_t index_of(const value& x) const {
    const auto equals = [&](const T& number) { return number == x.number; };
    const auto begin = numbers_ + x.first;
    const auto end = begin + x.n;
    if constexpr (Wanted == extreme::last_greatest) {
      const auto last = std::make_reverse_iterator(begin);
      const auto found = std::find_if(std::make_reverse_iterator(end), last, equals);
      return found != last ? static_cast<std::size_t>(found.base() - numbers_) - 1 : x.first;
    } else {
      const auto found = std::find_if(begin, end, equals);
      return found != end ? static_cast<std::size_t>(found - numbers_) : x.first;
    }
  }

private:
  static constexpr std::size_t block = 4096 / sizeof(T); ///< numbers

  value of_block(std::size_t first, std::size_t n) const {
    const auto* const begin = numbers_ + first;
    // A lane keeps the number that it begins with until there is a better one: for ever, if that is
    // a NaN. Those that come later change nothing.
    if constexpr (std::is_floating_point_v<T>)
      if (std::any_of(begin, begin + std::min(n, lanes_of<T>), [](T x) { return x != x; })) {
        const auto found
          = extreme_tree<Wanted, const T*, Less>{numbers_, less_}.index_among(first, n);
        return {numbers_[found], found, 1};
      }
    // Of equal ones anyone will do.
    constexpr auto either = Wanted == extreme::last_greatest ? extreme::first_greatest : Wanted;
    const auto itself = [](const T* at) { return *at; };
    const auto wanted
      = [this](T a, T b) { return is_later_of_ordered<either>(less_, a, b) ? b : a; };
    return {in_lanes<T>(begin, n, itself, wanted), first, n};
  }

  const T* numbers_;
  Less& less_;
};

template <extreme Wanted, class Elements, class Less>
auto make_extreme_tree(Elements elements, Less& less) noexcept {
  using number = std::remove_cvref_t<decltype(*elements)>;
  constexpr bool in_memory
    = std::is_convertible_v<Elements, const number*> && !std::is_same_v<number, bool>;
  if constexpr (in_memory && is_branch_free<std::remove_const_t<Less>, number>)
    return extreme_number_tree<Wanted, number, Less>{elements, less};
  else
    return extreme_tree<Wanted, Elements, Less>{elements, less};
}

/// Two such trees at once: block by block, so that the second finds its elements in the cache.
template <class First, class Second>
class both_trees {
public:
  using value = std::pair<typename First::value, typename Second::value>;

  both_trees(const First& first, const Second& second) noexcept : first_(first), second_(second) {
  }

  static constexpr std::size_t left_of(std::size_t n) noexcept {
    return First::left_of(n);
  }

  value leaf(member& m, std::size_t first, std::size_t n) const {
    auto best = of_block(m, first, std::min(n, block));
    for (auto done = block; done < n; done += block)
      best = merge(best, of_block(m, first + done, std::min(n - done, block)));
    return best;
  }

  value merge(const value& a, const value& b) const {
    return {first_.merge(a.first, b.first), second_.merge(a.second, b.second)};
  }

private:
  static constexpr std::size_t block = 1024; ///< elements

  value of_block(member& m, std::size_t first, std::size_t n) const {
    return {first_.leaf(m, first, n), second_.leaf(m, first, n)};
  }

  First first_;
  Second second_;
};

struct extreme_function : range_algorithm {
  template <class... Args>
  static consteval void refuse() {
    static_assert(
      sizeof...(Args) == 0,
      "min_element, max_element and minmax_element take a range and less, which compares two "
      "elements, or how many numbers and less, which compares two of them; a projection is a part "
      "of it: [](const order& a, const order& b) { return a.price < b.price; }");
  }

protected:
  template <class Less, class Range>
  static consteval void check_less() {
    check_order<std::remove_reference_t<Less>,
                std::remove_reference_t<std::ranges::range_reference_t<Range>>>();
  }

  template <extreme Wanted, class Range, class Less>
  static std::ranges::borrowed_iterator_t<Range> find(member& m, Range&& range, Less& less) {
    check_less<Less, Range>();
    const auto n = count_of(range);
    if (n == 0)
      return std::ranges::begin(range);
    const auto tree = make_extreme_tree<Wanted>(elements_of(range), less);
    using tree_type = std::remove_const_t<decltype(tree)>;
    const auto found = reduction<typename tree_type::value, tree_type>{tree}.run(m, 0, n);
    return advanced(std::ranges::begin(range), tree.index_of(found));
  }

  template <extreme Wanted, number Number, class Less>
  static Number find_number(member& m, Number n, Less& less) {
    const auto numbers = numbers_below(n);
    return static_cast<Number>(find<Wanted>(m, numbers, less) - numbers.begin());
  }
};

struct min_element_function : extreme_function {
  template <element_range Range, class Less = std::ranges::less>
  auto operator()(member& m, Range&& range, Less&& less = {}) const {
    return find<extreme::first_least>(m, std::forward<Range>(range), less);
  }

  template <number Number, class Less>
  Number operator()(member& m, Number n, Less&& less) const {
    return find_number<extreme::first_least>(m, n, less);
  }
};

struct max_element_function : extreme_function {
  template <element_range Range, class Less = std::ranges::less>
  auto operator()(member& m, Range&& range, Less&& less = {}) const {
    return find<extreme::first_greatest>(m, std::forward<Range>(range), less);
  }

  template <number Number, class Less>
  Number operator()(member& m, Number n, Less&& less) const {
    return find_number<extreme::first_greatest>(m, n, less);
  }
};

struct minmax_element_function : extreme_function {
  template <element_range Range, class Less = std::ranges::less>
  auto operator()(member& m, Range&& range, Less&& less = {}) const
    -> std::ranges::min_max_result<std::ranges::borrowed_iterator_t<Range>> {
    check_less<Less, Range>();
    const auto n = count_of(range);
    const auto begin = std::ranges::begin(range);
    if (n == 0)
      return {begin, begin};
    const auto least = make_extreme_tree<extreme::first_least>(elements_of(range), less);
    const auto greatest = make_extreme_tree<extreme::last_greatest>(elements_of(range), less);
    const both_trees both{least, greatest};
    using tree_type = std::remove_const_t<decltype(both)>;
    const auto found = reduction<typename tree_type::value, tree_type>{both}.run(m, 0, n);
    return {advanced(begin, least.index_of(found.first)),
            advanced(begin, greatest.index_of(found.second))};
  }

  template <number Number, class Less>
  std::ranges::min_max_result<Number> operator()(member& m, Number n, Less&& less) const {
    const auto numbers = numbers_below(n);
    const auto found = (*this)(m, numbers, less);
    return {static_cast<Number>(found.min - numbers.begin()),
            static_cast<Number>(found.max - numbers.begin())};
  }
};

} // namespace detail

/// `min_element(where, range, less = ranges::less)`: an iterator to the first
/// of the smallest elements, or the range's end if it is empty. A NaN only where there is nothing
/// else. `min_element(where, n, less)`: of the numbers below n, or n if there are none:
///
///     auto nearest = min_element(m, n, [&](int i, int j) { return far[i] < far[j]; });
inline constexpr pure<detail::min_element_function{}> min_element{"min_element"};

/// `max_element(where, range, less = ranges::less)`: to the first of the
/// largest ones, as std::max_element does.
inline constexpr pure<detail::max_element_function{}> max_element{"max_element"};

/// `minmax_element(where, range, less = ranges::less)`: to the first of the smallest and the last
/// of the largest ones, as std::ranges::minmax_element does:
///
///     auto [coldest, warmest] = minmax_element(m, temperatures);
inline constexpr pure<detail::minmax_element_function{}> minmax_element{"minmax_element"};

} // namespace basal::posse
