#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>

#include <basal/posse/detail/delegation.hpp>
#include <basal/posse/detail/elements.hpp>
#include <basal/posse/detail/fold.hpp>
#include <basal/posse/detail/reduction.hpp>
#include <basal/posse/pure.hpp>

namespace basal::posse {
namespace detail {

struct map_reduce_function : range_algorithm {
  template <class... Args>
  static consteval void refuse() {
    static_assert(
      sizeof...(Args) == 0,
      "map_reduce takes a range, a function of an element, the initial value and, unless it "
      "is to add, what combines two values: map_reduce(m, words, length, 0, larger)");
  }

  template <element_range Range, class Function, class T, class Op = std::plus<>>
  T operator()(member& m, Range&& range, Function&& function, T init, Op&& op = {}) const {
    using element = decltype(*elements_of(range));
    static_assert(is_called_with<Function, element>,
                  "map_reduce takes the function of an element before the initial value, and what "
                  "combines two values last: map_reduce(m, words, length, 0, larger)");
    if constexpr (is_called_with<Function, element>) {
      check_operation<T, Op, call_with_result_t<Function, element>>();
      if (const auto n = count_of(range); n != 0)
        return static_cast<T>(
          op(std::move(init), of_all<T>(m, elements_of(range), n, function, op)));
    }
    return init;
  }

  template <number Number, class Function, class T, class Op = std::plus<>>
  T operator()(member& m, Number n, Function&& function, T init, Op&& op = {}) const {
    return (*this)(m, numbers_below(n), function, std::move(init), op);
  }

private:
  template <class T, class Elements, class Function, class Op>
  static T of_all(member& m, Elements elements, std::size_t n, Function& function, Op& op) {
    if constexpr (is_block_value<T>) {
      return block_fold<T, Op>{op}.run(m, elements, n, function);
    } else {
      auto source = [=, &function](member& k, std::size_t i) -> T {
        return static_cast<T>(call_with(function, k, *advanced(elements, i)));
      };
      fold_tree<T, decltype(source), Op> tree{source, op};
      return reduction<T, decltype(tree)>{tree}.run(m, 0, n);
    }
  }
};

struct reduce_function : range_algorithm {
  template <class... Args>
  static consteval void refuse() {
    static_assert(
      sizeof...(Args) == 0,
      "reduce takes a range, the initial value and, unless it is to add, what combines two "
      "values: reduce(m, numbers, 1, std::multiplies<>{})");
  }

  template <element_range Range, class T, class Op = std::plus<>>
  T operator()(member& m, Range&& range, T init, Op&& op = {}) const {
    using operation = std::remove_cvref_t<Op>;
    check_operation<T, operation, std::ranges::range_value_t<Range>>();
    auto elements = elements_of(range);
    if constexpr (folds_in_lanes<decltype(elements), T, operation>) {
      auto n = count_of(range);
      if (n == 0)
        return init;
      return static_cast<T>(op(init, lanes_fold<T, operation>::run(m, elements, n, op)));
    } else {
      auto identity
        = [](auto&& element) -> decltype(auto) { return std::forward<decltype(element)>(element); };
      return map_reduce_function{}(m, range, identity, std::move(init), op);
    }
  }
};

} // namespace detail

/// `reduce(where, range, init, op = plus)`: `init` and the elements, in order,
/// combined by `op(T, T)`, where T is the type of `init`. `op` must be
/// associative, but need not be commutative. Where it is only nearly so, as
/// the addition of floating-point numbers is, the result is still the same bit
/// for bit on every number of executors: how the operations are
/// nested depends on the number of elements alone.
/// @throws any exception of `op`
inline constexpr pure<detail::reduce_function{}> reduce{"reduce"};

/// `map_reduce(where, range, function, init, op = plus)`: the same over the values of
/// `function(element)`, or `function(member&, element)`. The latter is called in order unless
/// stolen. Numbers below n: see for_each.
/// @throws the first exception in the order of the sequential evaluation; to find it, the function
/// may be called again for some elements
inline constexpr pure<detail::map_reduce_function{}> map_reduce{"map_reduce"};

} // namespace basal::posse
