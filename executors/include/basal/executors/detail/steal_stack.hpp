#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

namespace basal::executors {

/// A bounded stack: one owner pushes and pops the newest item, any other thread steals the older
/// half. Lock-free, allocates nothing; one thief at a time.
///
/// A thief of the oldest items takes the largest parts of a tree, as with continuations: Blumofe
/// and Leiserson, "Scheduling Multithreaded Computations by Work Stealing" (1999). The deques for
/// that (Chase and Lev) let a thief take one item at a time, and need a fence in each pop; actors
/// are small, so a thief should have many.
///
/// Protocol. One word has all three positions, so an owner and a thief that want the same item
/// contend for the word: `free`, up to which slots may be overwritten, `front`, from which thieves
/// take, and `back`. `free` and `front` differ exactly while a thief copies the items in between.
/// Positions wrap at 2^16; slots are taken modulo `Capacity`. That the word is the same as before
/// although it changed in the meantime does no harm: slots are read after they were claimed.
///
/// - `back` is moved by the owner alone: forward with release, which publishes the slot, and back
///   to claim it.
/// - A thief moves `front` forward with acquire, which makes the slots its own, copies them, then
///   moves `free` up to `front` with release (pairs with the acquire of the next push, which may
///   overwrite them).
///
/// `Atomic` and `Capacity` are parameters for tests, as in run_queue.
template <class T, std::uint32_t Capacity = 256, template <class> class Atomic = std::atomic>
class steal_stack {
  static_assert(Capacity >= 2 && Capacity <= 0x4000 && (Capacity & (Capacity - 1)) == 0,
                "the capacity must be a power of two, and small beside 2^16");

public:
  static constexpr std::uint32_t capacity = Capacity;

  /// The most that one theft takes.
  static constexpr std::uint32_t max_stolen = Capacity / 2;

  steal_stack() = default;
  steal_stack(const steal_stack&) = delete;
  steal_stack& operator=(const steal_stack&) = delete;

  /// Adds `item`. Owner only; lock-free.
  /// @returns false when the stack is full (nothing was pushed).
  bool push_back(const T& item) noexcept {
    auto word = word_.load(std::memory_order_acquire);
    auto at = positions::of(word);
    if (distance(at.free, at.back) >= Capacity)
      return false;
    slots_[at.back % Capacity] = item;
    // seq_cst, since the owner then looks at the idle set (see executor_pool::notify).
    while (!word_.compare_exchange_weak(word, at.with_back(at.back + 1).word(),
                                        std::memory_order_seq_cst, std::memory_order_acquire))
      at = positions::of(word);
    return true;
  }

  /// Takes the newest item. Owner only; lock-free.
  /// @returns false when the stack is empty.
  bool pop_back(T& out) noexcept {
    auto word = word_.load(std::memory_order_relaxed);
    for (;;) {
      const auto at = positions::of(word);
      if (at.front == at.back)
        return false;
      if (word_.compare_exchange_weak(word, at.with_back(at.back - 1).word(),
                                      std::memory_order_acq_rel, std::memory_order_relaxed)) {
        out = slots_[static_cast<std::uint16_t>(at.back - 1) % Capacity];
        return true;
      }
    }
  }

  /// Takes the older half, rounded up, but no more than `most` items, into `out`, the oldest first.
  /// Any thread; lock-free.
  /// @returns how many. 0: the stack is empty, or a thief is busy with it.
  std::uint32_t take_half(std::array<T, max_stolen>& out,
                          std::uint32_t most = max_stolen) noexcept {
    auto word = word_.load(std::memory_order_relaxed);
    std::uint32_t count = 0;
    auto at = positions::of(word);
    do {
      at = positions::of(word);
      const auto available = distance(at.front, at.back);
      count = std::min(available - available / 2, most);
      if (at.free != at.front || count == 0)
        return 0;
    } while (!word_.compare_exchange_weak(word, at.with_front(at.front + count).word(),
                                          std::memory_order_acq_rel, std::memory_order_relaxed));
    for (std::uint32_t i = 0; i < count; ++i)
      out[i] = slots_[static_cast<std::uint16_t>(at.front + i) % Capacity];
    word = word_.load(std::memory_order_relaxed);
    do
      at = positions::of(word);
    while (!word_.compare_exchange_weak(word, at.with_free(at.front).word(),
                                        std::memory_order_release, std::memory_order_relaxed));
    return count;
  }

  /// The number of items; a snapshot. Any thread. seq_cst, so that it can be the last look before
  /// sleep: see executor_pool, "Sleeping".
  std::uint32_t size() const noexcept {
    const auto at = positions::of(word_.load(std::memory_order_seq_cst));
    return distance(at.front, at.back);
  }

  bool empty() const noexcept {
    return size() == 0;
  }

private:
  static constexpr std::uint32_t distance(std::uint32_t from, std::uint32_t to) noexcept {
    return static_cast<std::uint16_t>(to - from);
  }

  struct positions {
    std::uint32_t free, front, back; // below 2^16

    static constexpr positions of(std::uint64_t word) noexcept {
      return {static_cast<std::uint16_t>(word >> 32), static_cast<std::uint16_t>(word >> 16),
              static_cast<std::uint16_t>(word)};
    }
    constexpr std::uint64_t word() const noexcept {
      return std::uint64_t{free} << 32 | std::uint64_t{front} << 16 | back;
    }
    constexpr positions with_free(std::uint32_t to) const noexcept {
      return {static_cast<std::uint16_t>(to), front, back};
    }
    constexpr positions with_front(std::uint32_t to) const noexcept {
      return {free, static_cast<std::uint16_t>(to), back};
    }
    constexpr positions with_back(std::uint32_t to) const noexcept {
      return {free, front, static_cast<std::uint16_t>(to)};
    }
  };

  alignas(64) Atomic<std::uint64_t> word_{0};

  /// Slot i is written by the owner before `back` passes it, and read by whoever claimed it.
  alignas(64) std::array<T, Capacity> slots_{};
};

} // namespace basal::executors
