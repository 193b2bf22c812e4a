#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <basal/posse/detail/elements.hpp>
#include <basal/posse/detail/near_function.hpp>
#include <basal/posse/pure.hpp>
#include <basal/posse/range_fork.hpp>

namespace basal::posse {
namespace detail {

template <class Body, class Position>
inline constexpr bool is_chunk_body
  = std::is_invocable_v<Body&, member&, Position,
                        Position> || std::is_invocable_v<Body&, Position, Position>;

struct for_each_chunk_function : range_algorithm {
  template <element_range Range, class Body>
  void operator()(member& m, Range&& range, Body&& body) const {
    using position = decltype(written_elements_of(range));
    static_assert(is_chunk_body<Body, position>,
                  "the body of a chunk takes where it begins and where it ends, pointers where the "
                  "range is contiguous, else iterators: "
                  "for_each_chunk(m, numbers, [](double* first, double* last) { ... })");
    if constexpr (is_chunk_body<Body, position>) {
      auto elements = written_elements_of(range);
      chunks(m, count_of(range),
             [=, near = near_to<position, position>(body)](member& k, std::size_t first,
                                                           std::size_t last) {
               auto&& f = near.get();
               call_with(f, k, advanced(elements, first), advanced(elements, last));
             });
    }
  }

  template <number Number, class Body>
  void operator()(member& m, Number n, Body&& body) const {
    (*this)(m, Number{0}, n, std::forward<Body>(body));
  }

  template <number First, number Last, class Body>
  void operator()(member& m, First first, Last last, Body&& body) const {
    const auto numbers = numbers_between(first, last);
    using type = std::ranges::range_value_t<decltype(numbers)>;
    static_assert(is_chunk_body<Body, type>,
                  "the body of a chunk takes the first index and the one behind the last: "
                  "for_each_chunk(m, first, last, [&](auto from, auto to) { ... })");
    if constexpr (is_chunk_body<Body, type>)
      chunks(m, count_of(numbers),
             [from = numbers.empty() ? type{} : numbers.front(),
              near = near_to<type, type>(body)](member& k, std::size_t begin, std::size_t end) {
               auto&& f = near.get();
               call_with(f, k, behind(from, begin), behind(from, end));
             });
  }

private:
  /// `from` + `n`, where from the least int to the greatest are more than an int can count.
  template <class Number>
  static constexpr Number behind(Number from, std::size_t n) noexcept {
    using bits = std::make_unsigned_t<Number>;
    return static_cast<Number>(static_cast<bits>(static_cast<bits>(from) + static_cast<bits>(n)));
  }

  /// For each executor: many enough to end at about the same time. A chunk may cost much by itself,
  /// as one of a matrix's columns does.
  static constexpr std::size_t most_chunks = 16;

  template <class Steps>
  static void chunks(member& m, std::size_t n, Steps steps) {
    range_fork<Steps>{steps, 0, most_chunks}.run(m, 0, n);
  }
};

} // namespace detail

/// `for_each_chunk(where, range, body)`: calls `body(first, last)`, or
/// `body(member&, first, last)`, for parts of the range, in order on one thread
/// unless stolen; for pointers where the range is contiguous, so that the body's
/// loop is one that the compiler vectorises. `for_each_chunk(where, n, body)`
/// does the same for the indices [0, n), and `for_each_chunk(where, first, last, body)` for
/// [first, last).
///
/// Every element is in one part. How long the parts are follows from what
/// elements cost and from thefts, so a result must not depend on it: where it
/// would, as that of a sum of floating-point numbers, use `reduce`. Exceptions:
/// see for_each.
inline constexpr pure<detail::for_each_chunk_function{}> for_each_chunk{"for_each_chunk"};

} // namespace basal::posse
