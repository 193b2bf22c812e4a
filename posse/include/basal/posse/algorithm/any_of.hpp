#pragma once

#include <cstddef>
#include <ranges>
#include <utility>

#include <basal/posse/algorithm/find_if.hpp>
#include <basal/posse/algorithm/reduce.hpp>
#include <basal/posse/detail/elements.hpp>
#include <basal/posse/detail/near_function.hpp>
#include <basal/posse/pure.hpp>

namespace basal::posse {
namespace detail {

struct predicate_function : range_algorithm {
  template <class... Args>
  static consteval void refuse() {
    static_assert(sizeof...(Args) == 0,
                  "any_of, all_of, none_of and count_if take a range, or how many numbers, and a "
                  "predicate: all_of(m, orders, [](const order& o) { return o.is_paid; })");
  }

protected:
  /// Whether there is an element for which it is `Value`.
  template <bool Value, element_range Range, class Predicate>
  static bool is_there(member& m, Range&& range, Predicate& predicate) {
    auto is_wanted = [near = near_to<decltype(*elements_of(range))>(predicate)](
                       member& k, auto&& element) -> bool {
      auto&& holds = near.get();
      return static_cast<bool>(call_with(holds, k, std::forward<decltype(element)>(element)))
             == Value;
    };
    return find_if_function{}(m, range, is_wanted) != std::ranges::end(range);
  }
};

struct any_of_function : predicate_function {
  template <element_range Range, class Predicate>
  bool operator()(member& m, Range&& range, Predicate&& predicate) const {
    return is_there<true>(m, range, predicate);
  }

  template <number Number, class Predicate>
  bool operator()(member& m, Number n, Predicate&& predicate) const {
    return is_there<true>(m, numbers_below(n), predicate);
  }
};

struct all_of_function : predicate_function {
  template <element_range Range, class Predicate>
  bool operator()(member& m, Range&& range, Predicate&& predicate) const {
    return !is_there<false>(m, range, predicate);
  }

  template <number Number, class Predicate>
  bool operator()(member& m, Number n, Predicate&& predicate) const {
    return !is_there<false>(m, numbers_below(n), predicate);
  }
};

struct none_of_function : predicate_function {
  template <element_range Range, class Predicate>
  bool operator()(member& m, Range&& range, Predicate&& predicate) const {
    return !is_there<true>(m, range, predicate);
  }

  template <number Number, class Predicate>
  bool operator()(member& m, Number n, Predicate&& predicate) const {
    return !is_there<true>(m, numbers_below(n), predicate);
  }
};

struct count_if_function : predicate_function {
  template <element_range Range, class Predicate>
  std::size_t operator()(member& m, Range&& range, Predicate&& predicate) const {
    auto one = [near = near_to<decltype(*elements_of(range))>(predicate)](
                 member& k, auto&& element) -> std::size_t {
      auto&& holds = near.get();
      return call_with(holds, k, std::forward<decltype(element)>(element)) ? 1 : 0;
    };
    return map_reduce_function{}(m, range, one, std::size_t{0});
  }

  template <number Number, class Predicate>
  std::size_t operator()(member& m, Number n, Predicate&& predicate) const {
    return (*this)(m, numbers_below(n), predicate);
  }
};

} // namespace detail

/// `any_of(where, range, predicate)`: whether there is an element for which
/// `predicate(element)`, or `predicate(member&, element)`, holds. Ends as find_if does.
/// Numbers below n: see for_each.
inline constexpr pure<detail::any_of_function{}> any_of{"any_of"};

/// `all_of(where, range, predicate)`: whether it holds for all. See any_of.
inline constexpr pure<detail::all_of_function{}> all_of{"all_of"};

/// `none_of(where, range, predicate)`: whether it holds for none. See any_of.
inline constexpr pure<detail::none_of_function{}> none_of{"none_of"};

/// `count_if(where, range, predicate)`: for how many it holds. See any_of; all are looked at.
inline constexpr pure<detail::count_if_function{}> count_if{"count_if"};

} // namespace basal::posse
