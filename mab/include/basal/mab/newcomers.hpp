#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include <basal/mab/grant.hpp>

namespace basal::mab {

class family;

/// First runs of new actors on one executor, that need no decision of their own: the first decision
/// of one of them allows the next ones to run inline as well (chooser::next_newcomers). So an actor
/// that lives for one message has no chooser, whose making, decision and report take a third of a
/// microsecond.
///
/// Belongs to its executor's thread, but for num_ended(). No locks, no allocation; nothing throws.
class alignas(64) newcomers {
public:
  newcomers() noexcept = default;
  newcomers(const newcomers&) = delete;
  newcomers& operator=(const newcomers&) = delete;

  /// From now on as many new actors may run, as the first decision of one of them says. Their
  /// family is told of those before.
  /// @param pressure at that decision
  void allow(const grant& g, double pressure, family& kin) noexcept;

  /// Takes a granted run, of an actor that is new. Exactly one ended() belongs to each.
  /// @returns false: none is left, and the actor asks a chooser of its own
  bool begin() noexcept {
    if (runs_ == 0)
      return false;
    --runs_;
    return true;
  }

  /// A granted run took `busy` of function time. What several took is told to `kin`, their family,
  /// at once.
  /// @returns false: it reached the limit, which ends the grant, and its actor's own chooser learns
  ///          of it, alone
  bool ended(std::chrono::nanoseconds busy, family& kin) noexcept {
    if (busy >= limit_) [[unlikely]] {
      runs_ = 0;
      tell(kin); // before the one that took longer
      return false;
    }
    const auto us = microseconds{busy}.count();
    sum_us_ += us;
    squares_ += us * us;
    ended_.store(ended_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (++untold_ >= grant::max_runs || runs_ == 0)
      tell(kin);
    return true;
  }

  /// Granted runs that did not reach the limit. Any thread.
  std::uint64_t num_ended() const noexcept {
    return ended_.load(std::memory_order_relaxed);
  }

  /// Those of them of whose times the family does not know yet.
  std::uint32_t num_untold() const noexcept {
    return untold_;
  }

private:
  void tell(family& kin) noexcept;

  std::uint32_t runs_ = 0; ///< that are left
  std::uint32_t untold_ = 0;
  std::chrono::nanoseconds limit_{0};
  double pressure_ = 0;
  double sum_us_ = 0;  ///< of those that are untold
  double squares_ = 0; ///< of the same, summed

  // Its own thread alone writes it; relaxed: a statistic.
  std::atomic<std::uint64_t> ended_{0};
};

} // namespace basal::mab
