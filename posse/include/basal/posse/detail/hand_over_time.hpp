#pragma once

#include <algorithm>
#include <cstdint>

namespace basal::posse::detail {

/// How long it takes until a delegate begins whose executor is awake: some cache lines' way from
/// one CPU to another, 0.2 to 1 us. It takes about as long again until the victim knows of the
/// end. So a victim keeps the more of a range, and waits awake for so long at a merge; and by a
/// multiple of it a short range is worth a theft or not.
///
/// Ticks. Its executor's thread alone.
class hand_over_time {
public:
  /// A delegate that was sent at `sent` began at `begun`; 0: its executor was not awake.
  /// The clocks of two CPUs may differ. `most` counts for what took longer: a thread had to wait
  /// for its CPU.
  void note(std::uint64_t sent, std::uint64_t begun, std::uint64_t most) noexcept {
    if (sent == 0)
      return;
    const auto took = std::min(begun - sent, most);
    mean_ = mean_ == 0 ? took : mean_ + took / weight - mean_ / weight;
    refusals_ = 0;
  }

  /// The same of one that has not begun by `now`.
  void note_wait(std::uint64_t sent, std::uint64_t now, std::uint64_t most) noexcept {
    if (now - sent > mean_)
      note(sent, now, most);
  }

  /// Something was not handed over, since that would take too long.
  void note_refusal() noexcept {
    refusals_ = std::min(refusals_ + 1, most_refusals);
  }

  /// The mean of the last few; 0: nothing is known.
  std::uint64_t mean() const noexcept {
    return mean_;
  }

  /// The same for who decides by it: less with each refusal, so that what was refused is tried
  /// now and then. CPUs may have come nearer to each other: those of virtual machines do.
  std::uint64_t hoped() const noexcept {
    return mean_ - mean_ / most_refusals * refusals_;
  }

private:
  static constexpr std::uint64_t weight = 8;
  static constexpr std::uint64_t most_refusals = 128;

  std::uint64_t mean_ = 0;
  std::uint64_t refusals_ = 0; ///< since the last hand-over
};

} // namespace basal::posse::detail
