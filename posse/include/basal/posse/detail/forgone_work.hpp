#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace basal::posse::detail {

/// The work that an executor would have given away, had one of those that are idle been awake: none
/// is worth a wake-up by itself, but one loop of 50 us after the other is. The problem of renting
/// or buying: once as much was forgone as the wake-up costs, it is paid, and costs at most as much
/// again as was lost before (Karlin et al., "Competitive snoopy caching", Algorithmica 1988). Each
/// wake-up that led to no theft makes the next one twice as dear: who was woken may have no CPU.
///
/// Times in any one unit. Its executor's thread alone.
class forgone_work {
public:
  /// At a look that finds work which would pay with an executor that is awake, and only sleepers.
  /// @param work  that would have been given
  /// @param price of a wake-up
  /// @returns whether to wake one now
  bool note(std::uint64_t now, std::uint64_t work, std::uint64_t price) noexcept {
    const auto since = now - std::exchange(last_look_, now);
    // An executor that is woken looks for work for about that long.
    if (since > (worth_remembering * price) << in_vain_)
      forgone_ = 0;
    else
      forgone_ += std::min(since, work_); // work that it would have done in the meantime
    work_ = work;
    if (forgone_ < price << in_vain_)
      return false;
    forgone_ = 0;
    in_vain_ = std::min(in_vain_ + 1, most_in_vain);
    return true;
  }

  /// A delegate has done what it was given.
  void paid() noexcept {
    in_vain_ = 0;
  }

  static constexpr std::uint64_t worth_remembering = 10;
  static constexpr unsigned most_in_vain = 10;

private:
  std::uint64_t last_look_ = 0;
  std::uint64_t work_ = 0; ///< as of then
  std::uint64_t forgone_ = 0;
  unsigned in_vain_ = 0; ///< wake-ups since the last theft that was worth it
};

} // namespace basal::posse::detail
