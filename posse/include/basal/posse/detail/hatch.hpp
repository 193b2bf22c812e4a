#pragma once

#include <atomic>
#include <cstdint>

#include <basal/executors/detail/assert.hpp>
#include <basal/posse/fwd.hpp>

namespace basal::posse::detail {

/// Where a compute executor that has done a delegate's work waits for the next, awake, before it
/// looks elsewhere and sleeps. A victim that finds it open claims it and hands the parcel in, which
/// takes one cache line from the one to the other; by way of the idle set, the token and the inbox
/// it takes several, one after the other.
///
/// Protocol: closed -> open by its executor; open -> claimed by a victim, or -> closed by its
/// executor; claimed -> a parcel by that victim, without anything between that could fail; a parcel
/// -> closed by its executor. So who claims it is alone until the parcel is there. Acquire and
/// release for the parcel, which publishes what it stands for, and for the claim: what its executor
/// did before it opened.
///
/// The parts are template parameters so that tests can run the same code under a
/// controlled scheduler.
template <template <class> class Atomic = std::atomic, class Item = parcel>
class basic_hatch {
public:
  // -- its executor's side ----------------------------------------------------

  void open() noexcept {
    BASAL_ASSERT(state_.load(std::memory_order_relaxed) == closed, "a hatch is opened when closed");
    state_.store(opened, std::memory_order_release);
  }

  /// @returns false if somebody has claimed it: a parcel comes
  bool close() noexcept {
    auto expected = opened;
    return state_.compare_exchange_strong(expected, closed, std::memory_order_relaxed,
                                          std::memory_order_relaxed);
  }

  /// @returns what has come, and closes; null if there is nothing yet
  Item* take() noexcept {
    const auto state = state_.load(std::memory_order_acquire);
    if (state <= claimed)
      return nullptr;
    state_.store(closed, std::memory_order_relaxed);
    return reinterpret_cast<Item*>(state);
  }

  // -- the victims' side ------------------------------------------------------

  /// A snapshot.
  bool is_open() const noexcept {
    return state_.load(std::memory_order_relaxed) == opened;
  }

  /// @returns whether the caller has it, and must hand() a parcel in
  bool claim() noexcept {
    auto expected = opened;
    return state_.compare_exchange_strong(expected, claimed, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }

  void hand(Item& item) noexcept {
    BASAL_ASSERT(state_.load(std::memory_order_relaxed) == claimed, "a hatch is claimed first");
    state_.store(reinterpret_cast<std::uintptr_t>(&item), std::memory_order_release);
  }

private:
  static constexpr std::uintptr_t closed = 0;
  static constexpr std::uintptr_t opened = 1;
  static constexpr std::uintptr_t claimed = 2;

  Atomic<std::uintptr_t> state_{closed};
};

using hatch = basic_hatch<>;

} // namespace basal::posse::detail
