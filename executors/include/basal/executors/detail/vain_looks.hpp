#pragma once

#include <cstdint>

namespace basal::executors {

/// Whether an executor that has run out of work should look for more at all. If it sleeps and is
/// woken almost at once, time after time, then its looking may be what it waits for: who has work
/// for it, a thread outside of its pool, cannot run, since this executor has the only CPU that is
/// left, as beside a program that computes. So looks are left out, for as long as waits are shorter
/// without; one wait in `retry` shows what the other way is like.
///
/// Plain data, owned by one executor; ticks of any clock.
class vain_looks {
public:
  static constexpr std::uint32_t enough = 4;
  static constexpr std::uint32_t retry = 16;

  /// @param soon a sleep of less than this is short. Eight times as much is a wait that shows
  ///             nothing: there was no work
  explicit vain_looks(std::uint64_t soon) noexcept : soon_(soon) {
  }

  /// The executor runs out of work now.
  bool is_due() noexcept {
    if (in_vain_ < enough)
      return true;
    const bool retries = ++waits_ % retry == 0;
    return (wait_without_ > wait_with_) != retries;
  }

  /// It waited for `waited`, of which it `looked` for a part; and slept, or was woken before.
  void ended(std::uint64_t waited, std::uint64_t looked, bool slept) noexcept {
    if (waited >= 8 * soon_)
      return;
    auto& mean = looked != 0 ? wait_with_ : wait_without_;
    mean = mean - mean / weight + waited / weight;
    if (looked == 0)
      return;
    if (!slept)
      in_vain_ -= in_vain_ != 0 ? 1 : 0;
    else if (waited - looked < soon_ && in_vain_ < enough)
      ++in_vain_;
  }

private:
  static constexpr std::uint64_t weight = 8;

  std::uint64_t soon_;
  std::uint64_t wait_with_ = 0;    ///< the mean of the last ones
  std::uint64_t wait_without_ = 0; ///< it has to be tried first
  std::uint32_t in_vain_ = 0;      ///< looks before a short sleep, less those that found something
  std::uint32_t waits_ = 0;
};

} // namespace basal::executors
