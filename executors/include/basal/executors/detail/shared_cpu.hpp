#pragma once

#include <algorithm>
#include <cstdint>

namespace basal::executors {

/// Whether others want the CPU on which an executor looks for work: it has been away from it
/// between two looks that follow each other at once. To look on would take their time, and that of
/// the thread whose work it waits for may be among it. So it then sleeps without a look for many
/// times as long as it was away: of what its looks delay, no more than that part is lost.
///
/// Plain data, owned by one executor; ticks of any clock.
class shared_cpu {
public:
  /// @param away an executor that was not seen for longer has not had the CPU
  explicit shared_cpu(std::uint64_t away) noexcept : away_(away) {
  }

  /// Between one look and the next, at `now`, the time `passed` has passed.
  /// @param taken whether another thread had the CPU meanwhile, as far as is known, and not the
  ///              hypervisor; asked only if that much has passed
  /// @returns whether the executor was away
  template <class Taken>
  bool was_away(std::uint64_t now, std::uint64_t passed, Taken taken) noexcept {
    if (passed < away_ || !taken())
      return false;
    until_ = std::max(until_, now + times * passed);
    return true;
  }

  /// Whether looks take nobody's time, as far as is known.
  bool is_free(std::uint64_t now) const noexcept {
    return now >= until_;
  }

  static constexpr std::uint64_t times = 16;

private:
  std::uint64_t away_;
  std::uint64_t until_ = 0;
};

} // namespace basal::executors
