#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace basal::posse::detail {

/// Whether the elements of one place differ so much that what is left of a range may take far
/// longer than they do on average: as seen from members that were to end at the same time, and
/// ended apart. Once, it may have been that a thread had to wait for its CPU; twice, that may
/// happen again: the place counts as uneven for a few ranges. Where it turns out so again soon
/// after these, for twice as many. Where elements are known to be uneven, members seldom end apart.
///
/// Any thread. Relaxed: a hint, complete in itself.
class unevenness {
public:
  /// The members of a range ended apart, or not.
  void note(bool apart) noexcept {
    const auto before = state_.load(std::memory_order_relaxed);
    const auto after = apart ? after_apart(before) : after_together(before);
    if (after != before)
      state_.store(after, std::memory_order_relaxed);
  }

  /// Whether the next range is done as one whose elements may be dear ones.
  bool is_known() const noexcept {
    return state_.load(std::memory_order_relaxed).left > suspect;
  }

private:
  struct state {
    std::uint8_t left = 0;  ///< ranges for which it is known, and then `suspect` ones
    std::uint8_t next = 0;  ///< doublings of those for which it is known next
    std::uint16_t calm = 0; ///< ranges since it was known, at most `much_calm`

    bool operator==(const state&) const noexcept = default;
  };

  static state after_apart(state s) noexcept {
    if (s.left == 0)
      return {suspect, s.next, s.calm};
    return {static_cast<std::uint8_t>(suspect + (least << s.next)),
            static_cast<std::uint8_t>(std::min(s.next + 1, most_doublings)), 0};
  }

  static state after_together(state s) noexcept {
    if (s.left <= suspect && s.calm != much_calm && ++s.calm == much_calm)
      s.next = 0;
    if (s.left != 0)
      --s.left;
    return s;
  }

  // Guesses, tried with even loops of 6 to 25 us: the members of 3 to 4 in a hundred ended apart,
  // and so those of two in five once in some 150.
  static constexpr int suspect = 4; ///< ranges in which a second one counts
  static constexpr int least = 8;
  static constexpr int most_doublings = 4;
  static constexpr int much_calm = 16;

  static_assert(std::atomic<state>::is_always_lock_free);

  std::atomic<state> state_{};
};

} // namespace basal::posse::detail
