#pragma once

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <vector>

#include <basal/posse/detail/elements.hpp>

namespace basal::posse {

/// Several ranges as one, whose elements are tuples of references to theirs; as
/// long as the shortest. Functions of an element may take the references one by
/// one, as generic lambdas of as many arguments do:
///
///     for_each(m, zip(positions, speeds), [](point& p, const vector& v) { p += v; });
///     for_each(m, zip(positions, speeds), [](auto& p, const auto& v) { p += v; });
///
/// A view: the ranges must outlive it, so they cannot be temporaries, except
/// views like spans and iota.
template <element_range... Ranges>
requires(sizeof...(Ranges) > 0) auto zip(Ranges&&... ranges) {
  static_assert((std::ranges::borrowed_range<Ranges> && ...),
                "zip refers to the ranges, which must outlive it: give a temporary one a name");
  static_assert(
    (!std::is_same_v<std::ranges::range_reference_t<Ranges>, std::vector<bool>::reference> && ...),
    "elements of std::vector<bool> share words: use a range of char or of an enum");
  const auto n = std::min({detail::count_of(ranges)...});
  return std::views::iota(std::size_t{0}, n)
         | std::views::transform([... elements = detail::elements_of(ranges)](std::size_t i) {
             return std::tuple<std::ranges::range_reference_t<Ranges>...>{
               *detail::advanced(elements, i)...};
           });
}

} // namespace basal::posse
