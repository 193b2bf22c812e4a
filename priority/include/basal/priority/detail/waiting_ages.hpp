#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace basal::priority::detail {

/// Counts those that wait, and knows for how long the oldest of them does, without a list: each is
/// counted in the slot that is open when it enters, until it leaves. A slot has the time of the
/// first entry since it was empty, and the oldest of all is taken for as old as the oldest slot.
///
/// An empty slot is opened in place of the open one when that is older than `least_ticks` and than
/// an eighth of the oldest's age. So the oldest is never taken for too young, and for too old by at
/// most an eighth of the longest wait of late and twice `least_ticks`. Slots suffice where the
/// oldest has waited up to 7000 times `least_ticks` and others have come all the time; after that
/// the last one stays open, and those in it are taken for as old as its first.
///
/// Any thread; wait-free: an addition on the way in and one on the way out, and a look at all slots
/// in each `least_ticks`. Times are of any clock that counts ticks.
template <template <class> class Atomic = std::atomic>
class basic_waiting_ages {
public:
  static constexpr std::size_t slots = 64;

  explicit basic_waiting_ages(std::uint64_t least_ticks) noexcept : least_ticks_(least_ticks) {
  }

  /// One more waits, since `now`. @returns the slot by which it leaves
  std::uint8_t enter(std::uint64_t now) noexcept {
    auto due = look_at_.load(std::memory_order_relaxed);
    if (!before(now, due)
        && look_at_.compare_exchange_strong(due, now + least_ticks_, std::memory_order_relaxed))
      look(now);
    const auto open = open_.load(std::memory_order_relaxed);
    auto& s = slots_[open];
    if (s.waiting.load(std::memory_order_relaxed) == 0)
      s.since.store(now, std::memory_order_relaxed);
    // Release: whoever reads the count in oldest() reads the time of this entry or a later one.
    s.waiting.fetch_add(1, std::memory_order_release);
    return open;
  }

  /// One waits no more. `entered` is what its enter() has returned.
  void leave(std::uint8_t entered) noexcept {
    slots_[entered].waiting.fetch_sub(1, std::memory_order_relaxed);
  }

  /// How many wait: a snapshot.
  std::uint64_t waiting() const noexcept {
    std::uint64_t sum = 0;
    for (const auto& s : slots_)
      sum += s.waiting.load(std::memory_order_relaxed);
    return sum;
  }

  /// Ticks for which the oldest has waited; 0 if none waits.
  std::uint64_t oldest(std::uint64_t now) const noexcept {
    std::uint64_t age = 0;
    for (const auto& s : slots_)
      if (s.waiting.load(std::memory_order_acquire) != 0)
        age = std::max(age, passed(s.since.load(std::memory_order_relaxed), now));
    return age;
  }

private:
  struct slot {
    /// Written by those who find the slot empty, in enter().
    Atomic<std::uint64_t> since{0};
    /// Written in enter() and leave().
    Atomic<std::uint32_t> waiting{0};
  };

  /// Clocks of two processors may differ a little.
  static bool before(std::uint64_t a, std::uint64_t b) noexcept {
    return static_cast<std::int64_t>(a - b) < 0;
  }

  static std::uint64_t passed(std::uint64_t since, std::uint64_t now) noexcept {
    return before(now, since) ? 0 : now - since;
  }

  /// Opens another slot if the open one is not empty and too old.
  void look(std::uint64_t now) noexcept {
    const auto width = std::max(least_ticks_, oldest(now) / 8);
    const auto& open = slots_[open_.load(std::memory_order_relaxed)];
    if (open.waiting.load(std::memory_order_relaxed) == 0
        || passed(open.since.load(std::memory_order_relaxed), now) < width)
      return;
    for (std::size_t i = 0; i < slots; ++i)
      if (slots_[i].waiting.load(std::memory_order_relaxed) == 0) {
        open_.store(static_cast<std::uint8_t>(i), std::memory_order_relaxed);
        return;
      }
  }

  const std::uint64_t least_ticks_;
  /// Written by the first to enter at that time or later.
  Atomic<std::uint64_t> look_at_{0};
  /// Written by look().
  Atomic<std::uint8_t> open_{0};
  std::array<slot, slots> slots_;
};

using waiting_ages = basic_waiting_ages<>;

} // namespace basal::priority::detail
