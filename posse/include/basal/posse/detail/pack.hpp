#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include <basal/executors/detail/collector.hpp>
#include <basal/posse/algorithm/for_each_chunk.hpp>
#include <basal/posse/detail/accumulators.hpp>
#include <basal/posse/detail/elements.hpp>
#include <basal/posse/detail/near_function.hpp>
#include <basal/posse/range_fork.hpp>

// The common part of filter and partition.
namespace basal::posse::detail {

/// Whether an element is better copied, whether it is wanted or not, than branched for: a branch
/// that is not foretold costs as much as some ten copies.
template <class Value>
inline constexpr bool is_cheap_to_copy
  = std::is_trivially_copyable_v<Value>&& std::is_copy_assignable_v<Value> && sizeof(Value) <= 32;

/// Which elements of a range pass. First each is marked, then those that pass are copied to where
/// they belong: nothing grows, no element is moved twice, and where copies are cheap, it does not
/// branch for each.
///
/// Marks are counted by blocks, the places of whose elements among those that pass are known when
/// all are marked. One block is in the object, so that a few elements cost no allocation.
class pack_marks {
public:
  /// @param n elements @throws std::bad_alloc
  explicit pack_marks(std::size_t n) : size_(n), num_blocks_((n + block - 1) / block) {
    if (num_blocks_ <= 1)
      return;
    more_marks_ = std::make_unique_for_overwrite<bool[]>(n);
    more_passed_ = std::make_unique<std::atomic<std::size_t>[]>(num_blocks_);
    marks_ = more_marks_.get();
    passed_ = more_passed_.get();
  }

  pack_marks(const pack_marks&) = delete;
  pack_marks& operator=(const pack_marks&) = delete;

  std::size_t num_blocks() const noexcept {
    return num_blocks_;
  }

  /// Marks the elements from `first` to `last`, of which `at` is the first. Any number of threads,
  /// each others.
  template <class Iterator, class Passes>
  void mark(Iterator at, std::size_t first, std::size_t last, const Passes& passes) {
    while (first != last) {
      auto& of_block = passed_[first / block];
      const auto end = std::min(last, (first / block + 1) * block);
      auto* const marks = &marks_[first];
      const auto n = end - first;
      for (std::size_t i = 0; i != n; ++i, ++at)
        marks[i] = passes(*at);
      // Not in that loop, where it would be one reason more to branch.
      const auto count = count_of_marks(marks, n);
      // Relaxed: read when the range's parts have been joined.
      of_block.fetch_add(count, std::memory_order_relaxed);
      first = end;
    }
  }

  /// All are marked: from now on `passed_` has how many pass before a block.
  /// @returns how many do in all
  std::size_t add_up() noexcept {
    std::size_t sum = 0;
    for (auto* of_block = passed_; of_block != passed_ + num_blocks_; ++of_block) {
      const auto count = of_block->load(std::memory_order_relaxed);
      of_block->store(sum, std::memory_order_relaxed);
      sum += count;
    }
    all_passed_ = sum;
    return sum;
  }

  /// Copies those of a block that pass, or those that do not, to where they belong in `result`.
  template <class Iterator, class Value>
  void copy(std::size_t number, bool passing, Iterator elements, Value* result) const {
    const auto first = number * block;
    const auto n = std::min(block, size_ - first);
    const auto before = passed_[number].load(std::memory_order_relaxed);
    const auto passed
      = (number + 1 == num_blocks_ ? all_passed_
                                   : passed_[number + 1].load(std::memory_order_relaxed))
        - before;
    copy_marked(advanced(elements, first), &marks_[first], n, passing,
                result + (passing ? before : first - before), passing ? passed : n - passed);
  }

private:
  static constexpr std::size_t block = 1024;

  /// How many of n, at most a block, are set.
  static std::size_t count_of_marks(const bool* marks, std::size_t n) noexcept {
    constexpr std::size_t bytes = sizeof(std::uint64_t);
    static_assert(sizeof(bool) == 1 && block / bytes < 256);
    std::uint64_t sums = 0; // one in each byte
    for (; n >= bytes; n -= bytes, marks += bytes) {
      std::uint64_t some;
      std::memcpy(&some, marks, bytes);
      sums += some;
    }
    std::size_t count = 0;
    for (; sums != 0; sums >>= 8)
      count += sums & 0xff;
    for (; n != 0; --n, ++marks)
      count += *marks ? 1 : 0;
    return count;
  }

  /// Copies `count` of `n` elements, those that are marked so.
  template <class Iterator, class Value>
  static void copy_marked(Iterator at, const bool* marks, std::size_t n, bool as, Value* to,
                          std::size_t count) {
    constexpr std::size_t rare = 20; // one in so many is better searched for
    if constexpr (is_cheap_to_copy<Value>)
      if (std::min(count, n - count) > n / rare) {
        // An element that is not wanted is overwritten by the next one.
        for (const auto* const end = to + count; to != end; ++at) {
          *to = *at;
          to += *marks++ == as ? 1 : 0;
        }
        return;
      }
    const auto* const end_of_marks = marks + n;
    const auto next = [&](bool value) {
      const auto left = static_cast<std::size_t>(end_of_marks - marks);
      const auto* found = static_cast<const bool*>(std::memchr(marks, value ? 1 : 0, left));
      return static_cast<std::size_t>((found != nullptr ? found : end_of_marks) - marks);
    };
    while (count != 0) {
      const auto others = next(as);
      marks += others;
      at = advanced(at, others);
      const auto run = next(!as);
      to = std::ranges::copy_n(at, static_cast<std::iter_difference_t<Iterator>>(run), to).out;
      marks += run;
      at = advanced(at, run);
      count -= run;
    }
  }

  const std::size_t size_;
  const std::size_t num_blocks_;
  std::size_t all_passed_ = 0;
  bool* marks_ = few_marks_; // of which what is read was written before
  std::atomic<std::size_t>* passed_ = &few_passed_;
  std::atomic<std::size_t> few_passed_{0};
  std::unique_ptr<bool[]> more_marks_;
  std::unique_ptr<std::atomic<std::size_t>[]> more_passed_;
  bool few_marks_[block];
};

/// Elements that an executor has looked at: those that pass and, if they are wanted, the others.
template <class Vector, bool WantsRest>
struct packed {
  Vector found;
  Vector rest;

  /// Adds n elements.
  template <class Iterator, class Passes>
  void add(Iterator at, std::size_t n, const Passes& passes) {
    using value = typename Vector::value_type;
    if constexpr (is_cheap_to_copy<value>) {
      auto count = found.size();
      auto others = rest.size();
      found.resize(count + n);
      if constexpr (WantsRest)
        rest.resize(others + n);
      for (const auto end = advanced(at, n); at != end; ++at) {
        auto&& element = *at;
        const bool is_kept = passes(element);
        const value copy = std::forward<decltype(element)>(element);
        found[count] = copy;
        count += is_kept ? 1 : 0;
        if constexpr (WantsRest) {
          rest[others] = copy;
          others += is_kept ? 0 : 1;
        }
      }
      found.resize(count);
      rest.resize(others);
    } else {
      for (const auto end = advanced(at, n); at != end; ++at) {
        auto&& element = *at;
        if (passes(element))
          found.push_back(std::forward<decltype(element)>(element));
        else if constexpr (WantsRest)
          rest.push_back(std::forward<decltype(element)>(element));
      }
    }
  }
};

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

/// Whether elements can be looked at twice: they lie one after the other in memory, or are numbers.
template <class Range>
inline constexpr bool is_looked_at_twice = std::ranges::contiguous_range<Range>&&
  std::is_assignable_v<std::ranges::range_value_t<Range>&, std::ranges::range_reference_t<Range>>;

template <class Number, class Bound>
inline constexpr bool
  is_looked_at_twice<std::ranges::iota_view<Number, Bound>> = std::integral<Number>;

template <class Number, class Bound>
inline constexpr bool
  is_looked_at_twice<const std::ranges::iota_view<Number, Bound>> = std::integral<Number>;

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
  const auto n = count_of(range);
  const auto near = near_to<decltype(*elements)>(predicate);
  if constexpr (is_looked_at_twice<Range>) {
    pack_marks marks{n};
    auto mark = [&marks, elements, near](member& k, std::size_t first, std::size_t last) {
      auto&& passes = near.get();
      marks.mark(advanced(elements, first), first, last,
                 [&](auto&& element) { return static_cast<bool>(call_with(passes, k, element)); });
    };
    range_fork<decltype(mark)>{mark}.run(m, 0, n);
    std::vector<value> found(marks.add_up());
    std::vector<value> rest(WantsRest ? n - found.size() : 0);
    auto copy = [&marks, elements, to = found.data(),
                 others = rest.data()](member&, std::size_t first, std::size_t last) {
      for (; first != last; ++first) {
        marks.copy(first, true, elements, to);
        if constexpr (WantsRest)
          marks.copy(first, false, elements, others);
      }
    };
    range_fork<decltype(copy)>{copy}.run(m, 0, marks.num_blocks());
    if constexpr (WantsRest)
      return std::pair{std::move(found), std::move(rest)};
    else
      return found;
  } else {
    // A collector finds what an element of a container leads to by way of that one, too.
    using vector = std::conditional_t<std::is_lvalue_reference_v<decltype(*elements)>,
                                      std::vector<value>, executors::visible_vector<value>>;
    using share = packed<vector, WantsRest>;
    accumulators<share> parts{share{}};
    auto body = [&parts, elements, near](member& k, std::size_t first, std::size_t last) {
      auto&& passes = near.get();
      auto& mine = parts.at(k, first);
      auto kept = std::move(mine.value); // here the compiler sees that nobody else has it
      kept.add(advanced(elements, first), last - first,
               [&](auto& element) { return static_cast<bool>(call_with(passes, k, element)); });
      mine.value = std::move(kept);
      mine.end = last;
    };
    range_fork<decltype(body)>{body}.run(m, 0, n);
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
}

} // namespace basal::posse::detail
