#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include <basal/posse/detail/elements.hpp>
#include <basal/posse/detail/near_function.hpp>
#include <basal/posse/pure.hpp>
#include <basal/posse/range_fork.hpp>

namespace basal::posse {
namespace detail {

struct map_into_function : range_algorithm {
  static constexpr bool has_more_ranges = true;

  template <class... Args>
  static consteval void refuse() {
    static_assert(sizeof...(Args) == 0,
                  "map_into takes a range, the range that it writes to, and one function; several "
                  "ranges are one by zip: map_into(m, zip(a, b), out, [](int x, int y) { ... })");
  }

  template <element_range Range, element_range Output, class Function>
  void operator()(member& m, Range&& range, Output&& output, Function&& function) const {
    auto in = elements_of(range);
    auto out = written_elements_of(output);
    auto body = [ =, near = near_to<decltype(*in)>(function) ](
      member & k, std::size_t first, std::size_t last) __attribute__((always_inline)) {
      auto&& f = near.get();
      auto from = advanced(in, first);
      auto to = advanced(out, first);
      auto end = advanced(in, last);
      for (; from != end; ++from, ++to)
        *to = call_with(f, k, *from);
    };
    range_fork<decltype(body)>{body}.run(m, 0, count_of(range));
  }
};

struct map_function : range_algorithm {
  template <class... Args>
  static consteval void refuse() {
    static_assert(sizeof...(Args) == 0,
                  "map takes one range and one function; several ranges are one by zip: "
                  "map(m, zip(a, b), [](int x, int y) { ... })");
  }

  template <element_range Range, class Function>
  auto operator()(member& m, Range&& range, Function&& function) const {
    using result
      = std::decay_t<call_with_result_t<Function, std::ranges::range_reference_t<Range>>>;
    static_assert(
      !std::is_void_v<result>,
      "map() makes a vector of what the function returns, and this one returns nothing: "
      "call for_each()");
    if constexpr (!std::is_void_v<result>) {
      static_assert(!std::is_same_v<result, bool>,
                    "elements of std::vector<bool> share bytes: return char or an enum instead");
      static_assert(std::is_default_constructible_v<result>,
                    "map() assigns to elements that exist already: wrap the result in an optional");
      std::vector<result> results(count_of(range));
      map_into_function{}(m, range, results, function);
      return results;
    }
  }

  template <number Number, class Function>
  auto operator()(member& m, Number n, Function&& function) const {
    return (*this)(m, numbers_below(n), function);
  }
};

} // namespace detail

/// `map(where, range, function)`: the vector of `function(element)`, or of
/// `function(member&, element)`, for every element, in order. Results are
/// default-constructed, then assigned. Numbers below n, exceptions: see for_each.
inline constexpr pure<detail::map_function{}> map{"map"};

/// `map_into(where, range, output, function)`: the same into the elements of
/// `output`, of which there must be as many; it may be `range` itself.
inline constexpr pure<detail::map_into_function{}> map_into{"map_into"};

} // namespace basal::posse
