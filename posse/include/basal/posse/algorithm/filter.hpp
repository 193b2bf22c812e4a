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

struct filter_function : range_algorithm {
  template <element_range Range, class Predicate>
  auto operator()(member& m, Range&& range, Predicate&& predicate) const {
    using value = std::ranges::range_value_t<Range>;
    static_assert(!std::is_same_v<value, bool>,
                  "elements of std::vector<bool> share bytes: use a range of char or of an enum");
    static_assert(std::is_default_constructible_v<value>,
                  "filter() assigns to elements that exist already: keep pointers or optionals");
    const auto elements = elements_of(range);
    // A collector finds what an element of a container leads to by way of that one, too.
    using found = std::conditional_t<std::is_lvalue_reference_v<decltype(*elements)>,
                                     std::vector<value>, executors::visible_vector<value>>;
    accumulators<found> parts{found{}};
    auto body = [&parts, elements, near = near_to<decltype(*elements)>(predicate)](
                  member& k, std::size_t first, std::size_t last) {
      auto&& passes = near.get();
      auto& mine = parts.at(k, first);
      auto kept = std::move(mine.value); // here the compiler sees that nobody else has it
      append(kept, advanced(elements, first), last - first,
             [&](auto&& element) -> bool { return call_with(passes, k, element); });
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
  /// Elements of which it is counted how many pass. Whether to branch is decided by a block, for
  /// eight times as many where branches are foretold: each block costs as much as some elements.
  static constexpr std::size_t block = 64;

  /// Bytes of an element that is copied whether it passes or not.
  static constexpr std::size_t most_copied = 32;

  /// Adds those of the `n` elements at `it` that pass. A branch that is not foretold costs as much
  /// as some ten copies; so where some pass and some do not, each is copied behind the last one
  /// that has passed.
  template <class Found, class Iterator, class Passes>
  static void append(Found& found, Iterator it, std::size_t n, const Passes& passes) {
    using value = typename Found::value_type;
    if constexpr (!std::is_trivially_copyable_v<value> || sizeof(value) > most_copied) {
      for (const auto end = advanced(it, n); it != end; ++it)
        if (passes(*it))
          found.push_back(*it);
    } else {
      auto count = found.size();
      bool is_foretold = false;
      for (std::size_t size = 0; n != 0; n -= size) {
        size = std::min(n, is_foretold ? 8 * block : block);
        if (found.size() < count + size)
          found.resize(count + 8 * block);
        auto* const to = found.data() + count;
        std::size_t passed = 0;
        const auto end = advanced(it, size);
        if (is_foretold) {
          for (; it != end; ++it)
            if (passes(*it))
              to[passed++] = *it;
        } else {
          for (; it != end; ++it) {
            const bool is_kept = passes(*it);
            to[passed] = *it;
            passed += is_kept ? 1 : 0;
          }
        }
        is_foretold = std::min(passed, size - passed) <= size / 16;
        count += passed;
      }
      found.resize(count);
    }
  }

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
/// each element. Elements are copied, and, where something was stolen or the range makes them,
/// moved once more into results that are default-constructed first. Those that are trivial to copy
/// and have at most 32 bytes may be copied whether they pass or not. Exceptions: see for_each.
/// @throws std::bad_alloc
inline constexpr pure<detail::filter_function{}> filter{"filter"};

} // namespace basal::posse
