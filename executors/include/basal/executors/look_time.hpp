#pragma once

#include <algorithm>
#include <cstdint>

namespace basal::executors {

/// How long an executor that has run out of work should look for more before it sleeps in the
/// kernel, from which it comes back some 50 us too late for a short piece of work: twice as
/// long as it had to wait lately, if that is within `longest`.
///
/// Two bounds. No look is longer than `longest`. And all looks together are no longer than
/// `looks_per_run` times what the executor has run, so that a program which computes now and then
/// pays for no more than a multiple of its work. Both let an executor without work sleep for good.
///
/// Plain data, owned by one executor; ticks of any clock.
class look_time {
public:
  static constexpr std::uint64_t looks_per_run = 4;

  /// @param longest 0: none
  explicit look_time(std::uint64_t longest) noexcept : longest_(longest) {
  }

  /// The executor runs out of work now, after `ran`.
  void ran_for(std::uint64_t ran) noexcept {
    credit_ = std::min(longest_, credit_ + std::min(longest_, ran) * looks_per_run);
  }

  /// How long it should look now.
  std::uint64_t expected() const noexcept {
    return 2 * average_wait_ <= longest_ ? std::min(2 * average_wait_, credit_) : 0;
  }

  /// It was woken after it had waited for `waited`, for so long of that it had `looked`.
  /// How much longer than `longest` a wait was says nothing.
  void waited_for(std::uint64_t waited, std::uint64_t looked) noexcept {
    credit_ -= std::min(credit_, looked);
    average_wait_ = (average_wait_ * (weight - 1) + std::min(waited, 2 * longest_)) / weight;
  }

private:
  static constexpr std::uint64_t weight = 4; ///< of a wait among the last ones: 1 in so many

  std::uint64_t longest_;
  std::uint64_t credit_ = 0;
  std::uint64_t average_wait_ = 0;
};

} // namespace basal::executors
