#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>

#include <basal/posse/detail/accumulators.hpp>
#include <basal/posse/detail/elements.hpp>
#include <basal/posse/detail/fold.hpp>
#include <basal/posse/detail/near_function.hpp>
#include <basal/posse/pure.hpp>
#include <basal/posse/range_fork.hpp>

namespace basal::posse {
namespace detail {

/// Whether what a function returns, that was called with a value `T` of nobody's, is what it should
/// have changed, as with those of std::accumulate: they take it as a copy, or const.
template <class T, class Result>
inline constexpr bool is_new_value
  = std::is_same_v<Result,
                   const T&> || (!std::is_reference_v<Result> && std::is_convertible_v<Result, T>);

/// @tparam First what the function takes before the value, if anything
template <class T, class Function, class Argument, class... First>
constexpr bool returns_new_value() {
  if constexpr (!std::is_pointer_v<T> && std::is_invocable_v<Function&, First..., T, Argument>)
    return is_new_value<T, std::invoke_result_t<Function&, First..., T, Argument>>;
  else
    return false;
}

template <class T, class Add, class Element>
constexpr bool add_returns_new_value() {
  if constexpr (std::is_invocable_v<Add&, member&, T&, Element>)
    return returns_new_value<T, Add, Element, member&>();
  else
    return returns_new_value<T, Add, Element>();
}

struct accumulate_function : range_algorithm {
  template <class... Args>
  static consteval void refuse() {
    static_assert(
      sizeof...(Args) == 0,
      "accumulate takes a range, an empty value, add and join, which adds what other "
      "elements have led to: accumulate(m, words, table{}, [](table& to, word w) { ... }, "
      "[](table& to, table&& from) { ... })");
  }

  template <element_range Range, class T, class Add, class Join>
  T operator()(member& m, Range&& range, T empty, Add&& add, Join&& join) const {
    static_assert(std::is_copy_constructible_v<T>, "each part of a range begins with a copy of the "
                                                   "empty value: use a pointer that can be copied");
    static_assert(std::is_invocable_v<Join&, T&, T&&>,
                  "join takes two accumulated values, and adds the second one to the first: "
                  "[](table& to, table&& from) { to.merge(from); }");
    const auto elements = elements_of(range);
    using element = decltype(*elements);
    static_assert(!add_returns_new_value<T, Add, element>() && !returns_new_value<T, Join, T&&>(),
                  "add and join change the value that they are given, what they return is lost: "
                  "[](long& to, int x) { to += x; }; for functions that return a new one there are "
                  "reduce and map_reduce");
    accumulators<T> parts{std::move(empty)};
    auto body = [&parts, elements, near = near_to<T&, element>(add)](member& k, std::size_t first,
                                                                     std::size_t last) {
      auto&& f = near.get();
      auto& mine = parts.at(k, first);
      const auto add_all = [&](T& to) {
        const auto end = advanced(elements, last);
        for (auto it = advanced(elements, first); it != end; ++it)
          call_with(f, k, to, *it);
      };
      if constexpr (is_block_value<T>) { // in registers, if the compiler finds room
        T sum = mine.value;
        add_all(sum);
        mine.value = sum;
      } else {
        add_all(mine.value);
      }
      mine.end = last;
    };
    // A part more is a value more to join, which may cost as much as its elements.
    constexpr std::uint64_t least_part = is_block_value<T> ? 0 : 8;
    range_fork<decltype(body)>{body, 0, 0, 1, least_part}.run(m, 0, count_of(range));
    auto all = parts.take();
    if (all.empty())
      return parts.initial();
    join_all(m, std::span{all}, join);
    return std::move(all.front()->value);
  }

  template <number Number, class T, class Add, class Join>
  T operator()(member& m, Number n, T empty, Add&& add, Join&& join) const {
    return (*this)(m, numbers_below(n), std::move(empty), add, join);
  }

private:
  /// Into the first one. In a tree, whose branches are many where many executors took part.
  template <class Share, class Join>
  static void join_all(member& m, std::span<Share> all, Join& join) {
    if (all.size() < 2)
      return;
    const auto later = all.subspan((all.size() + 1) / 2);
    const auto earlier = all.first(all.size() - later.size());
    m.fork_merge([&](member& k) { join_all(k, earlier, join); },
                 [&](member& k) { join_all(k, later, join); });
    std::invoke(join, earlier.front()->value, std::move(later.front()->value));
  }
};

} // namespace detail

/// `accumulate(where, range, empty, add, join)`: one value that all elements were added to, as a
/// table that words are counted in, or a vector of those that were found.
///
///     using table = std::unordered_map<std::string_view, int>;
///     table counts = posse::accumulate(
///       m, words, table{}, [](table& to, std::string_view word) { ++to[word]; },
///       [](table& to, table&& from) {
///         for (auto& [word, n] : from)
///           to[word] += n;
///       });
///
/// `add(value&, element)`, or `add(member&, value&, element)`, adds elements in order to a copy
/// of `empty`: one for each part of the range that an executor goes through: as many as thefts,
/// one more, and those that were taken for balance. `join(earlier&, later&&)` then adds what
/// elements have led to that come right after the others. Copies are made, and joins take place,
/// on several executors at the same time. What both return is ignored: one that takes a copy of
/// the value, or would, as `auto&&` does, and returns another one is refused.
///
/// Where the range is divided depends on thefts, so the result must not: `empty` has nothing in it,
/// and whether elements are added to one value or to two that are joined makes no difference. For
/// sums of floating-point numbers it does: use `map_reduce`. Numbers below n: see for_each.
/// @throws the first exception of `add` in the order of elements; any of `join`; std::bad_alloc
inline constexpr pure<detail::accumulate_function{}> accumulate{"accumulate"};

} // namespace basal::posse
