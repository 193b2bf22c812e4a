#pragma once

#include <cstddef>

#include <basal/posse/detail/elements.hpp>
#include <basal/posse/detail/near_function.hpp>
#include <basal/posse/pure.hpp>
#include <basal/posse/range_fork.hpp>

namespace basal::posse {
namespace detail {

struct for_each_function : range_algorithm {
  template <class... Args>
  static consteval void refuse() {
    static_assert(sizeof...(Args) == 0,
                  "for_each takes one range and one function; several ranges are one by zip: "
                  "for_each(m, zip(a, b), [](int& x, int y) { ... })");
  }

  template <element_range Range, class Function>
  void operator()(member& m, Range&& range, Function&& function) const {
    auto elements = written_elements_of(range);
    auto body = [ =, near = near_to<decltype(*elements)>(function) ](
      member & k, std::size_t first, std::size_t last) __attribute__((always_inline)) {
      auto&& f = near.get();
      auto end = advanced(elements, last);
      for (auto it = advanced(elements, first); it != end; ++it)
        call_with(f, k, *it);
    };
    range_fork<decltype(body)>{body}.run(m, 0, count_of(range));
  }

  template <number Number, class Function>
  void operator()(member& m, Number n, Function&& function) const {
    (*this)(m, numbers_below(n), function);
  }

  template <number First, number Last, class Function>
  void operator()(member& m, First first, Last last, Function&& function) const {
    (*this)(m, numbers_between(first, last), function);
  }
};

} // namespace detail

/// `for_each(where, range, function)`: calls `function(element)`, or
/// `function(member&, element)`, for every element, which it may change, while
/// it must not touch the others. `for_each(where, n, function)` does the same for
/// the numbers below n, as do map, map_reduce and accumulate; `for_each(where, first, last,
/// function)` for those from first to before last, which the others take as
/// std::views::iota(first, last).
///
/// `where` is, as for every algorithm, a member of the computation that this is
/// part of, a runtime, or an actor's `self`; see `pure`. In order on one thread
/// unless stolen. The first exception in the order of elements comes out; those
/// after it may or may not have been done.
inline constexpr pure<detail::for_each_function{}> for_each{"for_each"};

} // namespace basal::posse
