#pragma once

#include "actor_tally.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <basal/executors/detail/assert.hpp>

namespace basal::actors {

/// The actors that one executor ran for longest, in bounded memory. The executor's thread writes;
/// any thread reads.
///
/// An actor that is not among them takes the place of the least busy one with the probability that
/// is its share of both their times: randomised admission (Ben Basat et al., "Randomized admission
/// policy for efficient top-k and frequency estimation", INFOCOM 2017). What comes often gets in
/// soon, and of 100,000 that are equally busy hardly any does, which keeps it cheap. A rank is that
/// of the former holder plus the time; the tally begins anew.
///
/// Protocol. `id` is 0 while its place changes hands.
///
///     writer                                 reader
///     ------                                 ------
///     id = 0                     relaxed     whose = id                  acquire
///     numbers = 0                release     numbers                     acquire
///     id = new                   release     again = id                  acquire
///     numbers                    release     keep them if whose == again and not 0
///
/// A number that the reader finds changed for the next holder was stored after `id` had become 0;
/// its acquire load pairs with that store, so `again` is 0 or the next one. Only an actor that
/// leaves and comes back in between is not noticed; then the numbers are all its own.
///
/// The parameters are for the sake of tests.
template <template <class> class Atomic = std::atomic, std::size_t Size = 64,
          class Tally = basic_actor_tally<Atomic>>
class basic_busiest {
public:
  using tally = Tally;
  using numbers = std::array<std::uint64_t, Tally::count>; ///< in the order of its for_each

  /// Writer only. @returns null where it is not among them
  tally* find(std::uint64_t id) noexcept {
    const auto at = place_of(id);
    return at < Size ? &places_[at].counts : nullptr;
  }

  /// Writer only: it was busy for so long. @param type the number of the type's entry
  /// @param chance from 0 to 1, drawn
  /// @returns its tally; null where it is not among them
  tally* charge(std::uint64_t id, std::uint64_t type, std::uint64_t ticks, double chance) noexcept {
    BASAL_ASSERT(id != 0, "0 stands for no actor");
    BASAL_ASSERT(chance >= 0 && chance <= 1, "a chance is from 0 to 1");
    if (const auto at = place_of(id); at < Size) {
      ranks_[at] += ticks;
      return &places_[at].counts;
    }
    const auto least
      = static_cast<std::size_t>(std::min_element(ranks_.begin(), ranks_.end()) - ranks_.begin());
    const auto sum = ranks_[least] + ticks;
    if (chance * static_cast<double>(sum) > static_cast<double>(ticks))
      return nullptr;
    auto& place = places_[least];
    place.id.store(0, std::memory_order_relaxed);
    place.counts.for_each([](auto& number) { number.store(0, std::memory_order_release); });
    place.type.store(type, std::memory_order_release);
    place.id.store(id, std::memory_order_release);
    ids_[least] = id;
    ranks_[least] = sum;
    return &place.counts;
  }

  /// Any thread: calls `visit(id, type, copy of the tally's numbers)` for each.
  template <class Visit>
  void for_each(Visit visit) {
    for (auto& place : places_) {
      const auto whose = place.id.load(std::memory_order_acquire);
      if (whose == 0)
        continue;
      const auto type = place.type.load(std::memory_order_acquire);
      numbers copy{};
      std::size_t at = 0;
      place.counts.for_each(
        [&](auto& number) { copy[at++] = number.load(std::memory_order_acquire); });
      if (place.id.load(std::memory_order_acquire) == whose)
        visit(whose, type, copy);
    }
  }

private:
  /// Size where it has none.
  std::size_t place_of(std::uint64_t id) const noexcept {
    return static_cast<std::size_t>(std::find(ids_.begin(), ids_.end(), id) - ids_.begin());
  }

  struct holder {
    Atomic<std::uint64_t> id{0};
    Atomic<std::uint64_t> type{0};
    tally counts;
  };

  std::array<holder, Size> places_{};

  // The writer's own.
  std::array<std::uint64_t, Size> ids_{};
  std::array<std::uint64_t, Size> ranks_{}; ///< ticks
};

using busiest = basic_busiest<>;

} // namespace basal::actors
