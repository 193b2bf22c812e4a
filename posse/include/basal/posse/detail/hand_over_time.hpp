#pragma once

#include <algorithm>
#include <cstdint>

namespace basal::posse::detail {

/// The time from a theft until its delegate begins, if the delegate's executor is awake: cache
/// lines go from one CPU to another, which takes 0.2 to 1 us by how far these are. The news of the
/// delegate's end takes as long again. A victim that knows this keeps a larger part of a range than
/// it gives away, waits awake at a merge that is near, and knows which short ranges are worth a
/// theft. What else makes a delegate end after its victim, whose cache has more of the range, say,
/// it learns from the ends.
///
/// Ticks. Its executor's thread alone.
class hand_over_time {
public:
  /// A delegate that was sent at `sent` began at `begun`, by the clock of another CPU, which may
  /// differ. `sent` is 0 if the executor was not awake: that tells nothing.
  /// @param most counts for what took longer: a thread had to wait for its CPU
  void note(std::uint64_t sent, std::uint64_t begun, std::uint64_t most) noexcept {
    if (sent == 0 || begun < sent)
      return;
    const auto took = std::min(begun - sent, most);
    if (refusals_ != 0) // it was tried whether CPUs have come nearer to each other
      patience_ = took < mean_ - mean_ / 4 ? 1 : std::min(2 * patience_, most_patience);
    refusals_ = 0;
    mean_ = mean_ == 0 ? took : mean_ + took / weight - mean_ / weight;
  }

  /// A delegate that was sent at `sent` has not begun by `now`.
  void note_wait(std::uint64_t sent, std::uint64_t now, std::uint64_t most) noexcept {
    if (now - sent > mean_)
      note(sent, now, most);
    else
      refusals_ = 0;
  }

  /// A victim came to the end of its part of a range at `victim`, and its delegate, which was to
  /// end at the same time, at `delegate`. What differs by more than the mean counts for that.
  void note_ends(std::uint64_t victim, std::uint64_t delegate) noexcept {
    const auto most = static_cast<std::int64_t>(mean_);
    const auto late = std::clamp(static_cast<std::int64_t>(delegate - victim), -most, most);
    late_ = std::clamp(late_ + late / static_cast<std::int64_t>(weight), -most, most_late * most);
  }

  /// The time that a delegate loses to its victim, which goes on with a part of the same range.
  std::uint64_t delay() const noexcept {
    return static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, static_cast<std::int64_t>(mean_) + late_));
  }

  /// For how long it is worth to wait awake for a delegate's end: as long as it takes to be
  /// suspended and woken (the problem of renting or buying). Measured where CPUs are near to each
  /// other: 1 us, three times what a hand-over takes by way of the idle set. Through a hatch it
  /// takes less; but with six and ten times loops in a row took no less.
  std::uint64_t worth_waiting() const noexcept {
    return 3 * mean_;
  }

  /// A range was not offered, since that would take too long.
  void note_refusal() noexcept {
    refusals_ = std::min(refusals_ + 1, patience_ * refusals_until_tried);
  }

  /// The mean of the last few; 0: nothing is known.
  std::uint64_t mean() const noexcept {
    return mean_;
  }

  /// The time that is expected of the next theft: less than the mean with each refusal, so that
  /// a short range is tried now and then. CPUs of virtual machines come nearer to each other, and
  /// move apart again. A trial in vain makes the next one come half as soon.
  std::uint64_t hoped() const noexcept {
    return mean_ - mean_ * refusals_ / (patience_ * refusals_until_tried);
  }

private:
  static constexpr std::uint64_t weight = 8;
  static constexpr std::uint64_t refusals_until_tried = 128;
  static constexpr std::uint64_t most_patience = 64;

  static constexpr std::int64_t most_late = 4; ///< times the mean; a guess

  std::uint64_t mean_ = 0;
  std::int64_t late_ = 0;      ///< that delegates lose beside `mean_`
  std::uint64_t refusals_ = 0; ///< since the last theft
  std::uint64_t patience_ = 1; ///< doubled by each trial in vain
};

} // namespace basal::posse::detail
