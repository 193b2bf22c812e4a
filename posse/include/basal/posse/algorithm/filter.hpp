#pragma once

#include <basal/posse/detail/elements.hpp>
#include <basal/posse/detail/pack.hpp>
#include <basal/posse/pure.hpp>

namespace basal::posse {
namespace detail {

struct filter_function : range_algorithm {
  template <element_range Range, class Predicate>
  auto operator()(member& m, Range&& range, Predicate&& predicate) const {
    return packed_elements<false>(m, range, predicate);
  }

  template <number Number, class Predicate>
  auto operator()(member& m, Number n, Predicate&& predicate) const {
    return (*this)(m, numbers_below(n), predicate);
  }
};

struct partition_function : range_algorithm {
  template <element_range Range, class Predicate>
  auto operator()(member& m, Range&& range, Predicate&& predicate) const {
    return packed_elements<true>(m, range, predicate);
  }

  template <number Number, class Predicate>
  auto operator()(member& m, Number n, Predicate&& predicate) const {
    return (*this)(m, numbers_below(n), predicate);
  }
};

} // namespace detail

/// `filter(where, range, predicate)`: the vector of the elements for which
/// `predicate(element)`, or `predicate(member&, element)`, holds, in their
/// order (elsewhere called pack, or copy_if). The predicate is called once for
/// each element. Elements are copied; those that the range makes when they are asked for are moved.
/// Results are default-constructed first where elements lie one after the other in memory, and
/// otherwise where something was stolen. Elements that are trivial to copy and have at most 32
/// bytes may be copied whether they pass or not. Exceptions: see for_each; of elements in memory,
/// those of the predicate come before those of a copy.
/// Of the numbers below n, see for_each:
///
///     auto to_do = filter(m, n, [&](int node) { return !is_done[node]; });
///
/// @throws std::bad_alloc
inline constexpr pure<detail::filter_function{}> filter{"filter"};

/// `partition(where, range, predicate)`: the same and, as a second vector, the elements for which
/// it does not hold, in their order as well (elsewhere called partition_copy):
///
///     auto [small, large] = partition(m, numbers, [](int x) { return x < 10; });
inline constexpr pure<detail::partition_function{}> partition{"partition"};

} // namespace basal::posse
