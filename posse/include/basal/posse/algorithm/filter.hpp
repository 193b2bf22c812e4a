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
};

struct partition_function : range_algorithm {
  template <element_range Range, class Predicate>
  auto operator()(member& m, Range&& range, Predicate&& predicate) const {
    return packed_elements<true>(m, range, predicate);
  }
};

} // namespace detail

/// `filter(where, range, predicate)`: the vector of the elements for which
/// `predicate(element)`, or `predicate(member&, element)`, holds, in their
/// order (elsewhere called pack, or copy_if). The predicate is called once for
/// each element. Elements are copied, and, where something was stolen or the range makes them,
/// moved once more into results that are default-constructed first. Those that are trivial to copy
/// and have at most 32 bytes may be copied whether they pass or not. Exceptions: see for_each.
/// @throws std::bad_alloc
inline constexpr pure<detail::filter_function{}> filter{"filter"};

/// `partition(where, range, predicate)`: the same and, as a second vector, the elements for which
/// it does not hold, in their order as well (elsewhere called partition_copy):
///
///     auto [small, large] = partition(m, numbers, [](int x) { return x < 10; });
inline constexpr pure<detail::partition_function{}> partition{"partition"};

} // namespace basal::posse
