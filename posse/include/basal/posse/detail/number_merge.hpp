#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace basal::posse::detail {

/// If one of two arrays has fewer numbers, it is not tried how to merge them.
inline constexpr std::size_t number_merge_trial = 32;

/// Merges two sorted arrays of numbers into a third, as std::merge does. That branches on each
/// comparison, which takes 0.4 ns where the outcome is foretold, as where long runs or every other
/// number come from one of the two, and 4 ns where it is not. Without branches each number waits
/// for the one before to be compared: from both ends at once, which makes two chains of these, it
/// takes 1.7 ns. So a few are merged in that way, and where they came from decides about the rest.
template <class T, class Less>
class number_merge {
public:
  /// `to` has room for the na + nb numbers.
  number_merge(const T* a, std::size_t na, const T* b, std::size_t nb, T* to, Less& less) noexcept
    : a_(a), a_end_(a + na), b_(b), b_end_(b + nb), to_(to), to_end_(to + na + nb), less_(less) {
  }

  void run() {
    if (to_end_ - to_ >= many && shorter() >= 2 * trial) {
      if (!less_(*b_, *(a_end_ - 1))) { // one after the other, as of few different ones
        std::copy(b_, b_end_, std::copy(a_, a_end_, to_));
        return;
      }
      if (!is_foretold(step<true>(trial)))
        while (const auto n = shorter() / 2) // neither runs out in so many steps
          step<false>(n);
    }
    std::merge(a_, a_end_, b_, b_end_, to_, std::ref(less_));
  }

private:
  /// Of fewer ones the trial would be a large part.
  static constexpr std::ptrdiff_t many = 1024;

  /// Numbers from each end: bits of each half of what step() returns.
  static constexpr std::ptrdiff_t trial = 16;
  static_assert(2 * trial <= number_merge_trial); // neither runs out

  std::ptrdiff_t shorter() const noexcept {
    return std::min(a_end_ - a_, b_end_ - b_);
  }

  /// Moves n numbers from each end.
  /// @returns if `Notes`, a bit for each, which says whether it is b's: those of the last ones
  ///          are the upper half
  template <bool Notes>
  std::uint64_t step(std::ptrdiff_t n) {
    auto *a = a_, *a_last = a_end_ - 1, *b = b_, *b_last = b_end_ - 1;
    auto *to = to_, *to_last = to_end_ - 1;
    std::uint64_t firsts = 0, lasts = 0;
    for (std::ptrdiff_t i = 0; i != n; ++i) {
      const T x = *a, y = *b;
      const bool is_b = less_(y, x);
      *to++ = is_b ? y : x;
      a += !is_b;
      b += is_b;
      const T x_last = *a_last, y_last = *b_last;
      const bool is_a = less_(y_last, x_last);
      *to_last-- = is_a ? x_last : y_last;
      a_last -= is_a;
      b_last -= !is_a;
      if constexpr (Notes) {
        firsts = firsts << 1 | is_b;
        lasts = lasts << 1 | !is_a;
      }
    }
    a_ = a, a_end_ = a_last + 1, b_ = b, b_end_ = b_last + 1;
    to_ = to, to_end_ = to_last + 1;
    return firsts | lasts << 32;
  }

  /// Whether most come from the same side as did the number that is so many before, one to eight.
  /// It takes a tenth of them that do not for branches to be as slow as no branches, which makes a
  /// fifth here: what follows one that does not is not as it was before, either.
  static bool is_foretold(std::uint64_t from_b) noexcept {
    constexpr auto all = (std::uint64_t{1} << trial) - 1;
    for (int apart = 1; apart <= 8; ++apart) {
      const auto both = (all >> apart) * std::uint64_t{0x1'0000'0001};
      const auto others = std::popcount((from_b ^ from_b >> apart) & both);
      if (others * 5 < std::popcount(both))
        return true;
    }
    return false;
  }

  const T *a_, *a_end_, *b_, *b_end_;
  T *to_, *to_end_;
  Less& less_;
};

} // namespace basal::posse::detail
