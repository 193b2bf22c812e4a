#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <vector>

#include <basal/executors/detail/collector.hpp>
#include <basal/posse/detail/elements.hpp>
#include <basal/posse/detail/near_function.hpp>
#include <basal/posse/pure.hpp>
#include <basal/posse/range_fork.hpp>

namespace basal::posse {
namespace detail {

struct filter_function {
  template <element_range Range, class Predicate>
  auto operator()(member& m, Range&& range, Predicate&& predicate) const {
    using value = std::ranges::range_value_t<Range>;
    static_assert(!std::is_same_v<value, bool>,
                  "elements of std::vector<bool> share bytes: use a range of char or of an enum");
    static_assert(std::is_default_constructible_v<value>,
                  "filter() assigns to elements that exist already: keep pointers or optionals");
    const auto n = count_of(range);
    const auto unit = unit_for(n);
    const auto units = (n + unit - 1) / unit;
    auto elements = elements_of(range);
    // The elements that pass, unit by unit, then their places in the output.
    std::vector<executors::visible_vector<value>> passed(units);
    each(m, units, [&, near = near_to<decltype(*elements)>(predicate)](member& k, std::size_t u) {
      auto&& passes = near.get();
      const auto end = advanced(elements, std::min(n, (u + 1) * unit));
      for (auto it = advanced(elements, u * unit); it != end; ++it)
        if (call_with(passes, k, *it))
          passed[u].push_back(*it);
    });
    std::vector<std::size_t> begin(units + 1, 0);
    for (std::size_t u = 0; u != units; ++u)
      begin[u + 1] = begin[u] + passed[u].size();
    std::vector<value> result(begin.back());
    each(m, units, [&](member&, std::size_t u) {
      std::move(passed[u].begin(), passed[u].end(), advanced(result.begin(), begin[u]));
    });
    return result;
  }

private:
  // As in scans: many elements make units that are worth their bookkeeping, few
  // and perhaps expensive ones are units of their own.
  static constexpr std::size_t unit_for(std::size_t n) noexcept {
    return std::clamp<std::size_t>(std::bit_floor(n / 256), 1, 4096);
  }

  template <class Function>
  static void each(member& m, std::size_t units, Function function) {
    fork_merge_n(m, units, function);
  }
};

} // namespace detail

/// `filter(where, range, predicate)`: the vector of the elements for which
/// `predicate(element)`, or `predicate(member&, element)`, holds, in their
/// order (elsewhere called pack, or copy_if). The predicate is called once for
/// each element. Elements are copied, and moved once more; results are
/// default-constructed first. Exceptions: see for_each.
/// @throws std::bad_alloc
inline constexpr pure<detail::filter_function{}> filter{"filter"};

} // namespace basal::posse
