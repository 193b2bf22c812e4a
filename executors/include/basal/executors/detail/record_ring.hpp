#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/record_kind.hpp>

namespace basal::detail {

/// Sixteen bytes of a recording.
///
///     when_and_kind   ticks of tick_clock modulo 2^56, times 256, plus the kind
///     what            subject modulo 2^48, times 65,536, plus the number of a name
struct record {
  std::uint64_t when_and_kind = 0;
  std::uint64_t what = 0;

  static constexpr unsigned kind_bits = 8;
  static constexpr unsigned name_bits = 16;

  static constexpr record make(executors::record_kind kind, std::uint64_t ticks,
                               std::uint64_t subject, std::uint16_t name) noexcept {
    return {ticks << kind_bits | static_cast<std::uint64_t>(kind), subject << name_bits | name};
  }

  constexpr std::uint8_t kind() const noexcept {
    return static_cast<std::uint8_t>(when_and_kind);
  }
  constexpr std::uint64_t ticks() const noexcept {
    return when_and_kind >> kind_bits;
  }
  constexpr std::uint64_t subject() const noexcept {
    return what >> name_bits;
  }
  constexpr std::uint16_t name() const noexcept {
    return static_cast<std::uint16_t>(what);
  }
};

/// The latest records of one thread. One writer, which never waits; any number of readers, which
/// the writer never notices, signal handlers on its own thread included.
///
/// Record n lies in slot n % capacity. Protocol:
///
///     writer                                   reader
///     ------                                   ------
///     slot[n]: both words      release         end = written_             acquire
///     written_ = n + 1         release         words of the slots         acquire
///                                              again = written_           acquire
///                                              keep n if n + capacity > again
///
/// The first load shows all records before `end` whole: it pairs with the store of `written_`. A
/// word that the reader finds overwritten, by record n + capacity, was stored after `written_` had
/// become n + capacity; the acquire load of that word pairs with its release store, so `again` is
/// at least n + capacity, and record n is dropped. The record that is being written at `again` can
/// overwrite only number again - capacity, which is dropped, too. On x86-64 all of these are plain
/// moves.
///
/// `Atomic` is a parameter so that tests can run the same code under a controlled scheduler.
template <template <class> class Atomic = std::atomic>
class basic_record_ring {
public:
  struct slot {
    Atomic<std::uint64_t> when_and_kind{0};
    Atomic<std::uint64_t> what{0};
  };

  /// @param slots at least two; must outlive the ring
  explicit basic_record_ring(std::span<slot> slots) noexcept
    : first_slot_(slots.data()), end_slot_(slots.data() + slots.size()), next_slot_(first_slot_) {
    BASAL_ASSERT(slots.size() >= 2, "a ring of records has two slots or more");
  }

  basic_record_ring(const basic_record_ring&) = delete;
  basic_record_ring& operator=(const basic_record_ring&) = delete;

  std::uint64_t capacity() const noexcept {
    return static_cast<std::uint64_t>(end_slot_ - first_slot_);
  }

  /// The writer's thread only.
  [[gnu::always_inline]] void add(record r) noexcept {
    auto& to = *next_slot_;
    to.when_and_kind.store(r.when_and_kind, std::memory_order_release);
    to.what.store(r.what, std::memory_order_release);
    next_slot_ = &to + 1 != end_slot_ ? &to + 1 : first_slot_;
    // Only the writer writes it.
    written_.store(written_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  /// How many records there have been. Any thread.
  std::uint64_t written() const noexcept {
    return written_.load(std::memory_order_acquire);
  }

  /// Copies records from number `from` on, as many as there are and as `to` can hold. Any thread.
  /// @returns the number of the first one copied, which is greater than `from` where those before
  ///          it were overwritten, and what of `to` holds them
  std::pair<std::uint64_t, std::span<const record>> read(std::uint64_t from,
                                                         std::span<record> to) const noexcept {
    const auto end = written();
    if (end > capacity() && from < end - capacity())
      from = end - capacity();
    const auto count
      = from < end ? std::min<std::uint64_t>(end - from, to.size()) : std::uint64_t{0};
    auto* from_slot = first_slot_ + from % capacity();
    for (std::uint64_t i = 0; i < count; ++i) {
      to[i] = {from_slot->when_and_kind.load(std::memory_order_acquire),
               from_slot->what.load(std::memory_order_acquire)};
      if (++from_slot == end_slot_)
        from_slot = first_slot_;
    }
    const auto again = written();
    const auto lost = again + 1 > from + capacity() ? std::min(again + 1 - from - capacity(), count)
                                                    : std::uint64_t{0};
    return {from + lost, to.subspan(lost, count - lost)};
  }

private:
  slot* const first_slot_;
  slot* const end_slot_;
  slot* next_slot_; ///< the writer's

  /// Written by the writer, read by readers; see above.
  Atomic<std::uint64_t> written_{0};
};

using record_ring = basic_record_ring<>;

} // namespace basal::detail
