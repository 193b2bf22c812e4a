#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include <basal/executors/detail/assert.hpp>

namespace basal::solver {

/// The part of a batch that one lane has still to do: a range of unit numbers, in
/// one word. Its owner takes the first, others take the upper half, so a batch of
/// any size needs no memory for its queue, and pieces that move are large.
///
/// This takes the place of the source's distributor (an injector and a deque per
/// worker), whose deques may not be shared among threads as it does.
///
/// No unit comes twice: a unit that left a range never returns to it while the
/// range is not empty, and a range that is empty belongs to nobody but its owner.
/// For the same reason a word never has the same non-empty value twice, so a
/// compare-exchange cannot be fooled by a range that changed back.
///
/// `Atomic` is a template parameter so that tests can run the same code under a
/// controlled scheduler.
template <template <class> class Atomic = std::atomic>
class basic_work_range {
public:
  struct range {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;

    bool empty() const noexcept {
      return begin >= end;
    }

    std::uint32_t size() const noexcept {
      return empty() ? 0 : end - begin;
    }
  };

  /// Owner only, while the range is empty.
  void refill(range units) noexcept {
    BASAL_ASSERT(units.begin <= units.end, "a range ends behind its beginning");
    // Relaxed: what the units mean was written before the lanes started, and
    // whatever starts a lane publishes it. A range only says who does which.
    word_.store(pack(units), std::memory_order_relaxed);
  }

  /// Owner only. @returns the first unit, or nothing if the range is empty.
  std::optional<std::uint32_t> take() noexcept {
    auto seen = word_.load(std::memory_order_relaxed);
    for (;;) {
      auto r = unpack(seen);
      if (r.empty())
        return std::nullopt;
      if (word_.compare_exchange_weak(seen, pack({r.begin + 1, r.end}), std::memory_order_relaxed,
                                      std::memory_order_relaxed))
        return r.begin;
    }
  }

  /// Any thread. @returns the upper half, rounded up: of a single unit, that one.
  ///          Empty if there was none.
  range steal() noexcept {
    auto seen = word_.load(std::memory_order_relaxed);
    for (;;) {
      auto r = unpack(seen);
      if (r.empty())
        return {};
      auto middle = r.begin + r.size() / 2;
      if (word_.compare_exchange_weak(seen, pack({r.begin, middle}), std::memory_order_relaxed,
                                      std::memory_order_relaxed))
        return {middle, r.end};
    }
  }

  /// Any thread; a hint.
  std::uint32_t size() const noexcept {
    return unpack(word_.load(std::memory_order_relaxed)).size();
  }

private:
  // begin in the upper half of the word, end in the lower
  static constexpr std::uint64_t pack(range r) noexcept {
    return (std::uint64_t{r.begin} << 32) | r.end;
  }

  static constexpr range unpack(std::uint64_t word) noexcept {
    return {static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(word)};
  }

  // Written by the owner and by thieves, with compare-exchanges except in refill().
  Atomic<std::uint64_t> word_{0};
};

using work_range = basic_work_range<>;

} // namespace basal::solver
