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
#include <basal/posse/range_fork.hpp>

// The common part of filter and partition: elements go into a vector of the executor that looks at
// them, and those of all vectors into the result.
namespace basal::posse::detail {

/// Where elements go that do not pass, if nobody wants them.
struct dropped {};

/// Elements that an executor has looked at: those that pass and, if they are wanted, the others.
template <class Found, class Rest>
struct packed {
  Found found;
  [[no_unique_address]] Rest rest;
};

/// Elements of which it is counted how many pass. Whether to branch is decided by a block, for
/// eight times as many where branches are foretold: each block costs as much as some elements.
inline constexpr std::size_t pack_block = 64;

/// Room for `n` more behind the first `count`.
template <class Vector>
void make_room(Vector& values, std::size_t count, std::size_t n) {
  if (values.size() < count + n)
    values.resize(count + 8 * pack_block);
}

/// Adds the `n` elements at `it`. A branch that is not foretold costs as much as some ten copies;
/// so where some pass and some do not, each is copied behind the last one that has passed (and
/// behind the last one that has not), if a copy is cheap.
template <class Found, class Rest, class Iterator, class Passes>
void pack(packed<Found, Rest>& to, Iterator it, std::size_t n, const Passes& passes) {
  constexpr bool has_rest = !std::is_same_v<Rest, dropped>;
  constexpr std::size_t most_copied = 32; // bytes, whether they pass or not
  using value = typename Found::value_type;
  if constexpr (!std::is_trivially_copyable_v<value> || sizeof(value) > most_copied) {
    for (const auto end = advanced(it, n); it != end; ++it) {
      if (passes(*it))
        to.found.push_back(*it);
      else if constexpr (has_rest)
        to.rest.push_back(*it);
    }
  } else {
    auto count = to.found.size();
    std::size_t others = 0;
    if constexpr (has_rest)
      others = to.rest.size();
    bool is_foretold = false;
    for (std::size_t size = 0; n != 0; n -= size) {
      size = std::min(n, is_foretold ? 8 * pack_block : pack_block);
      make_room(to.found, count, size);
      auto* const found = to.found.data() + count;
      value* rest = nullptr;
      if constexpr (has_rest) {
        make_room(to.rest, others, size);
        rest = to.rest.data() + others;
      }
      std::size_t passed = 0;
      const auto end = advanced(it, size);
      if (is_foretold) {
        for (; it != end; ++it) {
          if (passes(*it))
            found[passed++] = *it;
          else if constexpr (has_rest)
            *rest++ = *it;
        }
      } else {
        for (; it != end; ++it) {
          const bool is_kept = passes(*it);
          found[passed] = *it;
          passed += is_kept ? 1 : 0;
          if constexpr (has_rest) {
            *rest = *it;
            rest += is_kept ? 0 : 1;
          }
        }
      }
      is_foretold = std::min(passed, size - passed) <= size / 16;
      count += passed;
      others += size - passed;
    }
    to.found.resize(count);
    if constexpr (has_rest)
      to.rest.resize(others);
  }
}

/// The vectors that `of` finds in the shares, one after the other.
template <class Value, class Shares, class Of>
std::vector<Value> joined(member& m, Shares& all, const Of& of) {
  if constexpr (std::is_same_v<std::vector<Value>&, decltype(of(*all.front()))>)
    if (all.size() == 1)
      return std::move(of(*all.front()));
  std::vector<std::size_t> begin{0};
  for (const auto& share : all)
    begin.push_back(begin.back() + of(*share).size());
  std::vector<Value> result(begin.back());
  for_each_chunk_function{}(m, result.size(), [&](std::size_t first, std::size_t last) {
    auto part = std::upper_bound(begin.begin(), begin.end(), first) - begin.begin() - 1;
    while (first != last) {
      auto& from = of(*all[static_cast<std::size_t>(part)]);
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

/// The elements of a range that pass, and, if they are wanted, the others.
/// @return the vector of those, or a pair of two
template <bool WantsRest, element_range Range, class Predicate>
auto packed_elements(member& m, Range& range, Predicate& predicate) {
  using value = std::ranges::range_value_t<Range>;
  static_assert(!std::is_same_v<value, bool>,
                "elements of std::vector<bool> share bytes: use a range of char or of an enum");
  static_assert(std::is_default_constructible_v<value>,
                "filter() and partition() assign to elements that exist already: keep pointers or "
                "optionals");
  const auto elements = elements_of(range);
  // A collector finds what an element of a container leads to by way of that one, too.
  using vector = std::conditional_t<std::is_lvalue_reference_v<decltype(*elements)>,
                                    std::vector<value>, executors::visible_vector<value>>;
  using share = packed<vector, std::conditional_t<WantsRest, vector, dropped>>;
  accumulators<share> parts{share{}};
  auto body = [&parts, elements, near = near_to<decltype(*elements)>(predicate)](
                member& k, std::size_t first, std::size_t last) {
    auto&& passes = near.get();
    auto& mine = parts.at(k, first);
    auto kept = std::move(mine.value); // here the compiler sees that nobody else has it
    pack(kept, advanced(elements, first), last - first,
         [&](auto&& element) -> bool { return call_with(passes, k, element); });
    mine.value = std::move(kept);
    mine.end = last;
  };
  range_fork<decltype(body)>{body}.run(m, 0, count_of(range));
  auto all = parts.take();
  auto found = joined<value>(
    m, all, [](auto& part) -> auto& { return part.value.found; });
  if constexpr (WantsRest)
    return std::pair{std::move(found),
                     joined<value>(
                       m, all, [](auto& part) -> auto& { return part.value.rest; })};
  else
    return found;
}

} // namespace basal::posse::detail
