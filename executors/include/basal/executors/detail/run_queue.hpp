#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <basal/executors/detail/assert.hpp>

namespace basal::executors {

/// The outcome of a look into another's ring.
enum class steal_outcome : std::uint8_t {
  stolen,  ///< items changed hands
  empty,   ///< there was none
  lost,    ///< another thief is at it, and takes half
  no_room, ///< the thief's own ring would not hold half of a full one
};

/// A bounded FIFO ring: one owner pushes and pops, any other thread steals half
/// of the oldest items. Lock-free, allocates nothing; one thief at a time.
///
/// Source: the run queue of Tokio's multi-thread scheduler (`queue.rs`), which
/// follows Go's. Deviations: items are plain values, and `push_back` stores the
/// tail with seq_cst instead of relying on a later read-modify-write, because
/// the owner then looks at the idle set (see executor_pool::notify).
///
/// Protocol. `head_` packs two positions: `steal`, up to which slots are free
/// for the owner to overwrite, and `real`, from which items are taken. They
/// differ exactly while one thief copies the items in between. All positions
/// grow without bound and wrap at 2^32; slots are taken modulo `Capacity`.
///
/// - `tail_` is written by the owner alone. Its store publishes the slot
///   (pairs with the acquire load in steal_into).
/// - A thief first moves `real` forward (compare-exchange), which makes the
///   slots its own, copies them, then moves `steal` up to `real` with release
///   (pairs with the acquire load in push_back, which may then overwrite).
///
/// `Atomic` is a template parameter so that tests can run the same code under
/// a controlled scheduler; `Capacity` so that they can make it tiny.
template <class T, std::uint32_t Capacity = 256, template <class> class Atomic = std::atomic>
class run_queue {
  static_assert(Capacity >= 2 && (Capacity & (Capacity - 1)) == 0,
                "the capacity must be a power of two");

public:
  static constexpr std::uint32_t capacity = Capacity;

  /// The most that one theft takes: half of a full ring.
  static constexpr std::uint32_t max_stolen = Capacity / 2;

  run_queue() = default;
  run_queue(const run_queue&) = delete;
  run_queue& operator=(const run_queue&) = delete;

  /// Appends `item`. Owner only; wait-free.
  /// @returns false when the ring is full (nothing was pushed).
  bool push_back(const T& item) noexcept {
    auto head = head_.load(std::memory_order_acquire);
    auto tail = tail_.load(std::memory_order_relaxed); // own value
    if (tail - steal_position(head) >= Capacity)
      return false;
    slots_[tail % Capacity] = item;
    tail_.store(tail + 1, std::memory_order_seq_cst);
    return true;
  }

  /// Takes the oldest item. Owner only; lock-free.
  /// @returns false when the ring is empty.
  bool pop_front(T& out) noexcept {
    auto head = head_.load(std::memory_order_acquire);
    for (;;) {
      auto real = real_position(head);
      if (real == tail_.load(std::memory_order_relaxed)) // own value
        return false;
      auto steal = steal_position(head);
      // While a thief copies, only `real` moves; the thief catches `steal` up.
      auto next = steal == real ? pack(real + 1, real + 1) : pack(steal, real + 1);
      if (head_.compare_exchange_weak(head, next, std::memory_order_acq_rel,
                                      std::memory_order_acquire)) {
        out = slots_[real % Capacity];
        return true;
      }
    }
  }

  /// Takes the older half at once, into `out`, to make room. Owner only.
  /// @returns how many items were taken: `max_stolen`, or 0 when the ring is
  ///          not full or a thief is busy with it.
  std::uint32_t take_half(std::array<T, Capacity / 2>& out) noexcept {
    auto head = head_.load(std::memory_order_acquire);
    auto real = real_position(head);
    auto tail = tail_.load(std::memory_order_relaxed); // own value
    if (real != steal_position(head) || tail - real != Capacity)
      return 0;
    auto next = pack(real + max_stolen, real + max_stolen);
    if (!head_.compare_exchange_strong(head, next, std::memory_order_acq_rel,
                                       std::memory_order_relaxed))
      return 0; // a thief came first, so there is room now
    for (std::uint32_t i = 0; i < max_stolen; ++i)
      out[i] = slots_[(real + i) % Capacity];
    return max_stolen;
  }

  /// A look's outcome, and how many items changed hands: 0 unless they were stolen.
  struct theft {
    steal_outcome outcome = steal_outcome::empty;
    std::uint32_t count = 0;
  };

  /// Moves half of this ring's items (rounded up, the oldest) to `thief`'s ring
  /// and returns the last of them in `out` instead, which counts as one of them.
  /// Called by the owner of `thief`, another ring; lock-free.
  theft steal_into(run_queue& thief, T& out) noexcept {
    BASAL_ASSERT(&thief != this, "nobody steals from their own ring");
    auto thief_tail = thief.tail_.load(std::memory_order_relaxed); // own value
    auto thief_head = thief.head_.load(std::memory_order_acquire);
    if (thief_tail - steal_position(thief_head) > Capacity / 2)
      return {steal_outcome::no_room};
    // Claim: move `real` past the items, keep `steal` so that the owner does
    // not overwrite them yet.
    auto head = head_.load(std::memory_order_acquire);
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    for (;;) {
      first = real_position(head);
      if (first != steal_position(head))
        return {steal_outcome::lost};
      auto available = tail_.load(std::memory_order_acquire) - first;
      count = available - available / 2;
      if (count == 0)
        return {};
      if (count > max_stolen) // `head` was stale: tail ran ahead of it
        count = max_stolen;
      if (head_.compare_exchange_weak(head, pack(first, first + count), std::memory_order_acq_rel,
                                      std::memory_order_acquire))
        break;
    }
    for (std::uint32_t i = 0; i + 1 < count; ++i)
      thief.slots_[(thief_tail + i) % Capacity] = slots_[(first + i) % Capacity];
    out = slots_[(first + count - 1) % Capacity];
    // Release: let the owner reuse the slots. It may have popped meanwhile, so
    // `real` is kept as it is.
    head = head_.load(std::memory_order_acquire);
    while (!head_.compare_exchange_weak(head, pack(real_position(head), real_position(head)),
                                        std::memory_order_acq_rel, std::memory_order_acquire)) {
      // retry: the owner moved `real`
    }
    if (count > 1)
      thief.tail_.store(thief_tail + count - 1, std::memory_order_seq_cst);
    return {steal_outcome::stolen, count};
  }

  /// The number of items, exact for the owner when no thief is active, else a
  /// snapshot. Any thread. The seq_cst loads make it usable as the last look
  /// before sleep: see executor_pool, "Sleeping".
  std::uint32_t size() const noexcept {
    auto head = head_.load(std::memory_order_seq_cst);
    auto tail = tail_.load(std::memory_order_seq_cst);
    auto count = tail - real_position(head);
    // More than fit: `head` is old news, and how many there are now unknown. Not
    // 0 in any case, or somebody could go to sleep beside an item.
    return count > Capacity ? Capacity : count;
  }

  bool empty() const noexcept {
    return size() == 0;
  }

private:
  static constexpr std::uint64_t pack(std::uint32_t steal, std::uint32_t real) noexcept {
    return (std::uint64_t{steal} << 32) | real;
  }

  static constexpr std::uint32_t steal_position(std::uint64_t head) noexcept {
    return static_cast<std::uint32_t>(head >> 32);
  }

  static constexpr std::uint32_t real_position(std::uint64_t head) noexcept {
    return static_cast<std::uint32_t>(head);
  }

  /// Written by the owner (pop) and one thief at a time (steal).
  alignas(64) Atomic<std::uint64_t> head_{0};

  /// Written by the owner; for a ring that receives a theft, by the same
  /// thread, which is its owner.
  alignas(64) Atomic<std::uint32_t> tail_{0};

  /// Slot i is written by the owner before the store of `tail_` that passes it,
  /// and read by whoever moved `real` past it.
  std::array<T, Capacity> slots_{};
};

} // namespace basal::executors
