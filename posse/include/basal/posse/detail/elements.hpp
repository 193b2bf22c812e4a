#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <basal/posse/fwd.hpp>

namespace basal::posse {

/// A range that the algorithms accept: vectors, arrays, spans, deques, iota views...
template <class Range>
concept element_range = std::ranges::random_access_range<Range> && std::ranges::sized_range<Range>;

namespace detail {

/// Iterator to the elements of a range: a plain pointer if they are contiguous, so that loops over
/// them can be vectorised, else the iterator.
template <element_range Range>
auto elements_of(Range& range) {
  if constexpr (std::ranges::contiguous_range<Range>)
    return std::ranges::data(range);
  else
    return std::ranges::begin(range);
}

/// The same for elements that are written, which the members of a computation
/// do at the same time.
template <element_range Range>
auto written_elements_of(Range& range) {
  static_assert(
    !std::is_same_v<std::ranges::range_reference_t<Range>, std::vector<bool>::reference>,
    "elements of std::vector<bool> share words: write to a range of char or of an enum instead");
  return elements_of(range);
}

/// A type of which a value stands for the range of the numbers below it.
template <class Number>
concept number = std::integral<Number> && !std::same_as<Number, bool>;

/// Those from 0 on: none if n is negative, as in a loop.
template <number Number>
auto numbers_below(Number n) {
  return std::views::iota(Number{0}, std::max(n, Number{0}));
}

/// Those from `first` to before `last`: none if that is less, as in a loop. Of a signed and an
/// unsigned one, as 0 and a size are, they are signed, of 64 bits where fewer do not hold both.
template <number First, number Last>
auto numbers_between(First first, Last last) {
  using common = std::common_type_t<First, Last>;
  constexpr bool is_mixed = std::is_signed_v<First> != std::is_signed_v<Last>;
  constexpr bool holds_both = !is_mixed || std::is_signed_v<common>;
  using type = std::conditional_t<holds_both, common, std::int64_t>;
  const auto from = static_cast<type>(first);
  return std::views::iota(from, std::max(from, static_cast<type>(last)));
}

template <element_range Range>
std::size_t count_of(Range& range) {
  return static_cast<std::size_t>(std::ranges::size(range));
}

/// `it + i` for an unsigned i.
template <class Iterator>
[[gnu::always_inline]] inline Iterator advanced(Iterator it, std::size_t i) {
  return it + static_cast<std::iter_difference_t<Iterator>>(i);
}

/// Whether `Function` takes the parts of the one argument, a tuple.
template <class Function, class... Args>
struct takes_parts {
  static constexpr bool alone = false;
  static constexpr bool with_member = false;
  static constexpr std::size_t count = 0;
};

template <class Function, class... Parts>
struct takes_these {
  static constexpr bool alone = std::is_invocable_v<Function&, Parts...>;
  static constexpr bool with_member = std::is_invocable_v<Function&, member&, Parts...>;
  static constexpr std::size_t count = sizeof...(Parts);
};

template <class Function, class... Parts>
struct takes_parts<Function, std::tuple<Parts...>> : takes_these<Function, Parts...> {};

/// The same of a tuple that has a name.
template <class Function, class... Parts>
struct takes_parts<Function, std::tuple<Parts...>&> : takes_these<Function, Parts&...> {};

template <class Function, class... Parts>
struct takes_parts<Function, const std::tuple<Parts...>&> : takes_these<Function, const Parts&...> {
};

enum class call_form { none, alone, with_member, parts, parts_with_member };

/// Functions of an element may take the member that runs them first, if they fork themselves; and
/// the parts of an element that is a tuple, as those of zip() are, one by one. A generic lambda of
/// two would take the member and a tuple as well as its two parts, so these are tried first; no
/// other form is asked for then, since to ask makes its body, which may not compile.
template <class Function, class... Args>
consteval call_form form_of_call() {
  using parts = takes_parts<Function, Args...>;
  if constexpr (parts::count > 1 && parts::alone)
    return call_form::parts;
  else if constexpr (std::is_invocable_v<Function&, member&, Args...>)
    return call_form::with_member;
  else if constexpr (std::is_invocable_v<Function&, Args...>)
    return call_form::alone;
  else if constexpr (parts::with_member)
    return call_form::parts_with_member;
  else
    return parts::alone ? call_form::parts : call_form::none;
}

/// Calls the function of an element so.
template <class Function, class... Args>
[[gnu::always_inline]] inline decltype(auto) call_with(Function& function, member& m,
                                                       Args&&... args) {
  constexpr auto form = form_of_call<Function, Args...>();
  if constexpr (form == call_form::with_member)
    return std::invoke(function, m, std::forward<Args>(args)...);
  else if constexpr (form == call_form::alone)
    return std::invoke(function, std::forward<Args>(args)...);
  else if constexpr (form == call_form::parts_with_member)
    return std::apply(
      [&](auto&&... parts) -> decltype(auto) {
        return std::invoke(function, m, std::forward<decltype(parts)>(parts)...);
      },
      std::forward<Args>(args)...);
  else if constexpr (form == call_form::parts)
    return std::apply(function, std::forward<Args>(args)...);
  else
    static_assert(form != call_form::none,
                  "the function of an algorithm takes the elements that it is called for, or the "
                  "member that runs it and these: [](const order& o) { ... }, or "
                  "[](basal::posse::member& m, const order& o) { ... }");
}

/// Whether call_with() takes these.
template <class Function, class... Args>
inline constexpr bool is_called_with = form_of_call<Function, Args...>() != call_form::none;

/// Whether it gives them a member then.
template <class Function, class... Args>
inline constexpr bool is_called_with_member
  = form_of_call<Function, Args...>() == call_form::with_member
    || form_of_call<Function, Args...>() == call_form::parts_with_member;

/// A warning rather than an error: many such values are small. A template, or clang++ would warn of
/// the call below wherever it reads it.
template <class T>
[[deprecated(
  "the initial value has a narrower type than the values that are combined with it, and "
  "each of these is cut to it: begin with 0L or std::size_t{0}, say, instead of 0")]] consteval void
warn_of_cut_values() {
}

/// Says what is wrong of an operation `Op` that combines `Value`s into one T, if anything.
template <class T, class Op, class Value>
consteval void check_operation() {
  using operation = std::remove_const_t<Op>;
  constexpr bool adds = std::disjunction_v<
    std::is_same<operation, std::plus<>>, std::is_same<operation, std::plus<T>>,
    std::is_same<operation, std::multiplies<>>, std::is_same<operation, std::multiplies<T>>>;
  constexpr bool cuts
    = std::is_integral_v<
        T> && !std::is_same_v<T, bool> && std::is_floating_point_v<std::remove_cvref_t<Value>>;
  static_assert(std::is_invocable_v<Op&, T, T>,
                "an operation combines two values of the initial one's type, or two elements where "
                "there is none; std::plus, unless another is given: "
                "[](const total& a, const total& b) { return total{a.sum + b.sum}; }");
  static_assert(!adds || !cuts,
                "a sum has the initial value's type, an integer, to which each floating-point "
                "number would be cut: begin with 0.0 instead of 0, or let the function return an "
                "integer, as std::lround does");
  using value = std::remove_cvref_t<Value>;
  if constexpr (std::is_integral_v<T> && std::is_integral_v<value>)
    if constexpr (!std::is_same_v<T, bool> && sizeof(value) > sizeof(int) // small ones are promoted
                  && sizeof(T) < sizeof(value))
      warn_of_cut_values<T>();
}

/// The same of what compares elements, `T`s that are const.
template <class Less, class T>
consteval void check_order() {
  static_assert(std::is_invocable_v<Less&, const T&, const T&>,
                "elements are compared by <, or by less where it is given; it takes two elements: "
                "[](const order& a, const order& b) { return a.id < b.id; }");
}

template <class Function, class... Args>
using call_with_result_t = decltype(call_with(std::declval<Function&>(), std::declval<member&>(),
                                              std::declval<Args>()...));

} // namespace detail
} // namespace basal::posse
