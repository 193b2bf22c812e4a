#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include <basal/executors/detail/collector.hpp>
#include <basal/posse/algorithm/for_each_chunk.hpp>
#include <basal/posse/detail/accumulators.hpp>
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
    using found = executors::visible_vector<value>;
    const auto elements = elements_of(range);
    accumulators<found> parts{found{}};
    auto body = [&parts, elements, near = near_to<decltype(*elements)>(predicate)](
                  member& k, std::size_t first, std::size_t last) {
      auto&& passes = near.get();
      auto& mine = parts.at(k, first);
      auto kept = std::move(mine.value); // here the compiler sees that nobody else has it
      const auto end = advanced(elements, last);
      for (auto it = advanced(elements, first); it != end; ++it)
        if (call_with(passes, k, *it))
          kept.push_back(*it);
      mine.value = std::move(kept);
      mine.end = last;
    };
    range_fork<decltype(body)>{body}.run(m, 0, count_of(range));
    auto all = parts.take();
    if constexpr (std::is_same_v<found, std::vector<value>>)
      if (all.size() == 1)
        return std::move(all.front()->value);
    return joined<value>(m, all);
  }

private:
  /// Their elements one after the other.
  template <class Value, class Shares>
  static std::vector<Value> joined(member& m, Shares& all) {
    std::vector<std::size_t> begin{0};
    for (const auto& share : all)
      begin.push_back(begin.back() + share->value.size());
    std::vector<Value> result(begin.back());
    for_each_chunk_function{}(m, result.size(), [&](std::size_t first, std::size_t last) {
      auto part = std::upper_bound(begin.begin(), begin.end(), first) - begin.begin() - 1;
      while (first != last) {
        auto& from = all[static_cast<std::size_t>(part)]->value;
        const auto of_part = begin[static_cast<std::size_t>(part)];
        const auto to = std::min(last, of_part + from.size());
        std::move(advanced(from.begin(), first - of_part), advanced(from.begin(), to - of_part),
                  advanced(result.begin(), first));
        first = to;
        ++part;
      }
    });
    return result;
  }
};

} // namespace detail

/// `filter(where, range, predicate)`: the vector of the elements for which
/// `predicate(element)`, or `predicate(member&, element)`, holds, in their
/// order (elsewhere called pack, or copy_if). The predicate is called once for
/// each element. Elements are copied, and moved once more, unless they are numbers and
/// nothing was stolen; results are default-constructed first. Exceptions: see for_each.
/// @throws std::bad_alloc
inline constexpr pure<detail::filter_function{}> filter{"filter"};

} // namespace basal::posse
