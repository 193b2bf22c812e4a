#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <basal/posse/detail/pace.hpp>

namespace basal::posse::detail {

/// How many elements the steps of ranges at one place have at least, since so many at a time are
/// cheaper: the compiler may have made vectors of them, which take some elements, or the processor
/// begins with one before it is done with another. Steps that are short since elements are dear
/// one by one would never show it. So some ranges do a part in a step that is four times as long,
/// and compare.
///
/// Any thread. Relaxed: a hint, complete in itself.
class step_trial {
public:
  /// Elements of a step, at least, as far as a range is long enough: divisible_range::least_for.
  std::size_t least() const noexcept {
    return state_.load(std::memory_order_relaxed).least;
  }

  /// Whether elements take half of the time in such a step, or less: then it is worth more than an
  /// even end of all executors.
  bool is_by_far() const noexcept {
    return state_.load(std::memory_order_relaxed).by_far;
  }

  /// The longer step to compare one of `elements` with.
  static constexpr std::size_t longer(std::size_t elements) noexcept {
    return std::max(fewest, 4 * elements);
  }

  /// The shorter step to compare one with that was found to be cheaper.
  static constexpr std::size_t shorter(std::size_t elements) noexcept {
    return std::max<std::size_t>(1, elements / 4);
  }

  /// Whether the range that begins now is to try it.
  /// @param counts it stands for eight ranges: all executors read the line that each count writes
  bool is_due(bool counts) noexcept {
    auto s = state_.load(std::memory_order_relaxed);
    if (s.wait == 0)
      return true;
    if (counts) {
      --s.wait;
      state_.store(s, std::memory_order_relaxed);
    }
    return false;
  }

  /// Of one of some elements.
  struct costs {
    pace::element_cost longer;  ///< in the longer step
    pace::element_cost shorter; ///< in one of the usual length
    pace::element_cost usual;   ///< as it was known before
  };

  /// Whether the next one is to compare what was found with shorter steps: every second one, since
  /// it may have been chance.
  bool is_doubted() const noexcept {
    const auto s = state_.load(std::memory_order_relaxed);
    return s.least > 1 && s.losses % 2 != 0;
  }

  /// One has tried `longer` elements at a time, and fewer before or after these. If they are a
  /// sixth cheaper, twice, all others follow; but not where such a step takes so long that others
  /// would wait for its end. The second time it is the other way round, or elements that get dearer
  /// from one to the next would seem to be cheaper together. Where the shorter step was cheap, too,
  /// the elements are not alike, and it tells nothing of those which are as dear as is known; nor
  /// does it where the longer one is no cheaper than that: the other's thread had to wait.
  /// If it is what was found before, and no cheaper, twice, the shorter one takes its place, where
  /// that is long enough to have been found, too.
  /// @param came_last the longer step, as it is to do where is_confirming(); else, as when two try
  ///                  at the same time, this counts for nothing
  void ended(std::size_t longer, costs of, bool came_last) noexcept {
    auto s = state_.load(std::memory_order_relaxed);
    if (came_last != (s.gains != 0))
      return;
    const bool again = longer <= s.least;
    if (of.longer <= of.shorter - of.shorter / 6 && of.longer < of.usual
        && of.shorter >= of.usual / 2 && pace::work_of(of.longer, longer) <= longest) {
      if (of.longer <= std::min(of.shorter, of.usual) / 2)
        ++s.far_gains;
      if (++s.gains == enough)
        s = {.least = static_cast<std::uint16_t>(std::min(longer, pace::longest_step)),
             .wait = again ? pause : std::uint16_t{0},
             .by_far = s.far_gains == enough};
    } else {
      s.gains = 0;
      s.far_gains = 0;
      s.wait = pause;
      s.losses = static_cast<std::uint8_t>(s.losses + (again ? losses_to_forget / enough : 1));
      if (s.losses >= losses_to_forget) { // what elements do may have changed
        const auto left = again ? shorter(longer) : std::size_t{1};
        s = left < fewest
              ? state{.wait = pause}
              : state{.least = static_cast<std::uint16_t>(left), .wait = pause, .by_far = s.by_far};
      }
    }
    state_.store(s, std::memory_order_relaxed);
  }

  /// Whether the last one has found so, and the next one decides.
  bool is_confirming() const noexcept {
    return state_.load(std::memory_order_relaxed).gains != 0;
  }

  /// As for range_site::begin_like.
  void begin_like(const step_trial& other) noexcept {
    state_.store(other.state_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }

private:
  /// Elements that are tried, at least: two vectors or more, and what is left of a third.
  static constexpr std::size_t fewest = 32;

  /// Ranges from one that was no cheaper to the next one that tries, in eights.
  static constexpr std::uint16_t pause = 8;

  static constexpr std::uint64_t longest = 4 * pace::target; ///< ticks

  static constexpr std::uint8_t losses_to_forget = 16;

  static constexpr std::uint8_t enough = 2; ///< gains in a row

  struct alignas(8) state {
    std::uint16_t least = 1;
    std::uint16_t wait = 0;
    std::uint8_t gains = 0;     ///< in a row
    std::uint8_t losses = 0;    ///< since `least` was found
    std::uint8_t far_gains = 0; ///< of the gains
    bool by_far = false;        ///< `least` was found by such ones
  };

  std::atomic<state> state_{};
};

} // namespace basal::posse::detail
