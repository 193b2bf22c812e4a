#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <ranges>

#include <basal/posse/detail/elements.hpp>
#include <basal/posse/detail/reduction.hpp>
#include <basal/posse/pure.hpp>

namespace basal::posse {
namespace detail {

/// The tree that finds an extreme element's index; `Better` tells whether its
/// second argument, which comes later, is to be preferred to the first.
template <class Elements, class Better>
struct extreme_tree {
  Elements elements;
  Better& better;

  static constexpr std::size_t left_of(std::size_t n) noexcept {
    return (n + 1) / 2;
  }

  std::size_t leaf(member&, std::size_t first, std::size_t n) const {
    auto best = first;
    for (auto i = first + 1; i != first + n; ++i)
      if (better(*advanced(elements, best), *advanced(elements, i)))
        best = i;
    return best;
  }

  std::size_t merge(std::size_t a, std::size_t b) const {
    return better(*advanced(elements, a), *advanced(elements, b)) ? b : a;
  }
};

template <element_range Range, class Better>
std::ranges::borrowed_iterator_t<Range> extreme_element(member& m, Range&& range, Better better) {
  auto n = count_of(range);
  if (n == 0)
    return std::ranges::begin(range);
  using tree_type = extreme_tree<decltype(elements_of(range)), Better>;
  tree_type tree{elements_of(range), better};
  return advanced(std::ranges::begin(range), reduction<std::size_t, tree_type>{tree}.run(m, 0, n));
}

struct extreme_function : range_algorithm {
  template <class... Args>
  static consteval void refuse() {
    static_assert(
      sizeof...(Args) == 0,
      "min_element and max_element take a range and less, which compares two elements; a "
      "projection is a part of it: "
      "[](const order& a, const order& b) { return a.price < b.price; }");
  }
};

struct min_element_function : extreme_function {
  template <element_range Range, class Less = std::ranges::less>
  auto operator()(member& m, Range&& range, Less&& less = {}) const {
    check_order<std::remove_reference_t<Less>,
                std::remove_reference_t<std::ranges::range_reference_t<Range>>>();
    return extreme_element(m, std::forward<Range>(range), [&](const auto& a, const auto& b) {
      return static_cast<bool>(std::invoke(less, b, a));
    });
  }
};

struct max_element_function : extreme_function {
  template <element_range Range, class Less = std::ranges::less>
  auto operator()(member& m, Range&& range, Less&& less = {}) const {
    check_order<std::remove_reference_t<Less>,
                std::remove_reference_t<std::ranges::range_reference_t<Range>>>();
    return extreme_element(m, std::forward<Range>(range), [&](const auto& a, const auto& b) {
      return static_cast<bool>(std::invoke(less, a, b));
    });
  }
};

} // namespace detail

/// `min_element(where, range, less = ranges::less)`: an iterator to the first
/// of the smallest elements, or the range's end if it is empty.
inline constexpr pure<detail::min_element_function{}> min_element{"min_element"};

/// `max_element(where, range, less = ranges::less)`: to the first of the
/// largest ones, as std::max_element does.
inline constexpr pure<detail::max_element_function{}> max_element{"max_element"};

} // namespace basal::posse
