#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <basal/executors/detail/assert.hpp>

namespace basal::priority::detail {

/// A heap of values in the order of a key and, among equal keys, of their
/// arrival. Not thread-safe. O(log n); allocates when it grows past its largest
/// size so far.
///
/// Four children to a node (Johnson 1975; LaMarca and Ladner, JEA 1996): half as
/// many levels as two, and so as many cache lines, for as many comparisons. Key
/// and arrival are compared as one number of 128 bits, without a branch, since a
/// branch on random keys is mispredicted every other time; that halves the time
/// of std::priority_queue at a depth of 1000.
template <class T>
class order_heap {
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T>);

public:
  bool empty() const noexcept {
    return entries_.empty();
  }

  std::size_t size() const noexcept {
    return entries_.size();
  }

  /// @param key a number
  /// @throws std::bad_alloc when it cannot grow; nothing has changed then
  void push(double key, T value) {
    BASAL_ASSERT(key == key, "a key is a number");
    entries_.push_back({arrivals_, to_ordered(key), std::move(value)});
    ++arrivals_;
    rise(entries_.size() - 1);
  }

  /// Of the first one. Not of an empty heap.
  double least_key() const noexcept {
    BASAL_ASSERT(!entries_.empty(), "an empty heap has no least key");
    return from_ordered(entries_.front().high);
  }

  /// Takes the first one. Not of an empty heap.
  T pop() noexcept {
    BASAL_ASSERT(!entries_.empty(), "an empty heap has no first value");
    T first = std::move(entries_.front().value);
    auto last = std::move(entries_.back());
    entries_.pop_back();
    if (!entries_.empty())
      sink(0, std::move(last));
    return first;
  }

  /// Removes those for which `matches(value)`. O(n). @returns how many.
  template <class Predicate>
  std::size_t erase_if(Predicate matches) noexcept {
    auto removed = std::erase_if(entries_, [&](entry& e) { return matches(e.value); });
    if (removed != 0)
      for (auto i = entries_.size() / ways + 1; i-- > 0;)
        if (i < entries_.size())
          sink(i, std::move(entries_[i]));
    return removed;
  }

private:
  static constexpr std::size_t ways = 4;

  __extension__ using wide = unsigned __int128;

  struct entry {
    std::uint64_t low;  ///< arrival
    std::uint64_t high; ///< key, see to_ordered
    T value;

    wide order() const noexcept {
      return static_cast<wide>(high) << 64 | low;
    }
  };

  /// Keeps the order of doubles: their bits as a number, the negative ones
  /// turned around (IEEE 754, section 5.10).
  static std::uint64_t to_ordered(double key) noexcept {
    const auto bits = std::bit_cast<std::uint64_t>(key + 0.0); // -0 is 0
    return (bits & sign) != 0 ? ~bits : bits | sign;
  }

  static double from_ordered(std::uint64_t ordered) noexcept {
    return std::bit_cast<double>((ordered & sign) != 0 ? ordered & ~sign : ~ordered);
  }

  static constexpr auto sign = std::uint64_t{1} << 63;

  bool before(std::size_t a, std::size_t b) const noexcept {
    return entries_[a].order() < entries_[b].order();
  }

  std::size_t first_child(std::size_t first) const noexcept {
    if (first + ways <= entries_.size()) {
      const auto left = first + (before(first + 1, first) ? 1 : 0);
      const auto right = first + 2 + (before(first + 3, first + 2) ? 1 : 0);
      return before(right, left) ? right : left;
    }
    auto best = first;
    for (auto i = first + 1; i < entries_.size(); ++i)
      best = before(i, best) ? i : best;
    return best;
  }

  void rise(std::size_t at) noexcept {
    auto moved = std::move(entries_[at]);
    while (at > 0) {
      const auto parent = (at - 1) / ways;
      if (entries_[parent].order() < moved.order())
        break;
      entries_[at] = std::move(entries_[parent]);
      at = parent;
    }
    entries_[at] = std::move(moved);
  }

  void sink(std::size_t at, entry moved) noexcept {
    for (;;) {
      const auto first = at * ways + 1;
      if (first >= entries_.size())
        break;
      const auto child = first_child(first);
      if (moved.order() < entries_[child].order())
        break;
      entries_[at] = std::move(entries_[child]);
      at = child;
    }
    entries_[at] = std::move(moved);
  }

  std::vector<entry> entries_;
  std::uint64_t arrivals_ = 0;
};

} // namespace basal::priority::detail
