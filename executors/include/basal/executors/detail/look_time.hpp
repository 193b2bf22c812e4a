#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace basal::executors {

/// How long an executor that has run out of work should look for more before it sleeps in the
/// kernel, from which it comes back some 50 us too late for a short piece of work.
///
/// It is the problem of renting or buying, with what the last waits were like as the distribution
/// of the next one (Karlin, Li, Manasse, Owicki: Empirical Studies of Competitive Spinning, SOSP
/// 1991): of all times to look for, the one that would have paid best. To be awake when work comes
/// is worth `worth`, and a look costs its time, whether work came or not. So an executor sleeps at
/// once when its waits are long, looks through them when they are short, and when they are of both
/// kinds looks through the short ones and no longer.
///
/// Besides, all looks together are no longer than `looks_per_run` times what the executor has run,
/// and no look is longer than `worth`. Both let an executor without work sleep for good.
///
/// Plain data, owned by one executor; ticks of any clock.
class look_time {
public:
  /// @param worth 0: nothing is looked for
  look_time(std::uint64_t worth, std::uint32_t looks_per_run) noexcept
    : worth_(worth), looks_per_run_(looks_per_run) {
    lately_[longer] = all;
  }

  /// The executor runs out of work now, after `ran`.
  void ran_for(std::uint64_t ran) noexcept {
    credit_ = std::min(worth_, credit_ + std::min(worth_, ran) * looks_per_run_);
  }

  /// How long it should look now.
  std::uint64_t expected() const noexcept {
    std::uint64_t best = 0;
    std::int64_t best_gain = 0;
    std::int64_t hits = 0;
    std::int64_t cost = 0; // of the looks that found something
    for (auto kind = kinds - 1; kind != longer; --kind) {
      const auto most = static_cast<std::int64_t>(most_of(kind));
      hits += lately_[kind];
      cost += lately_[kind] * (most - most / 4); // of waits from most / 2 to most
      const auto gain
        = hits * static_cast<std::int64_t>(worth_) - cost - (std::int64_t{all} - hits) * most;
      if (gain > best_gain) {
        best_gain = gain;
        best = most_of(kind);
      }
    }
    return std::min(best, credit_);
  }

  /// It was woken after a wait of `waited`, of which it had `looked` for a part.
  void waited_for(std::uint64_t waited, std::uint64_t looked) noexcept {
    credit_ -= std::min(credit_, looked);
    auto kind = longer;
    while (kind + 1 < kinds && waited <= most_of(kind + 1))
      ++kind;
    std::uint32_t faded = 0;
    for (auto& share : lately_) {
      const auto part = share / weight;
      share -= part;
      faded += part;
    }
    lately_[kind] += faded; // so that they remain `all` together
  }

private:
  static constexpr std::size_t kinds = 8;
  static constexpr std::size_t longer = 0; ///< waits of more than `worth`
  static constexpr std::uint32_t all = 1U << 16;
  static constexpr std::uint32_t weight = 8; ///< of a wait among the last ones: 1 in so many

  /// The longest wait of a kind. Its waits are more than half as long, except in the last kind.
  std::uint64_t most_of(std::size_t kind) const noexcept {
    return worth_ >> (kind - 1);
  }

  std::uint64_t worth_;
  std::uint64_t looks_per_run_;
  std::uint64_t credit_ = 0;
  std::array<std::uint32_t, kinds> lately_{}; ///< shares of the last waits, by their kind
};

} // namespace basal::executors
