#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace basal::actors {

/// When some of the actors that wait for their turn were woken. Whoever wakes one may leave a note,
/// and the executor that runs it takes the note away. Any thread; lock-free, and wait-free where
/// there is no note.
///
/// Protocol. An actor is queued once at a time, so between place() and take() nobody else calls
/// either for it. place() claims a slot first by a compare-exchange, with a value that is no
/// actor's address. It then writes the time and publishes it by the release store of the
/// address, which pairs with the acquire load in take(). take() reads the time before its
/// compare-exchange: where that succeeds, nobody has claimed the slot since, and the time is the
/// note's. A note is counted before it is published and until it was taken, so who runs an actor,
/// which happens after place(), finds any() true where there is a note of it.
///
/// A note whose actor was ended unrun, or ran while nobody watched, is never taken, and any() stays
/// true. Whoever finds one that is too old replaces it.
///
/// `Atomic` and `Slots` are parameters for the sake of tests.
template <template <class> class Atomic = std::atomic, std::size_t Slots = 64>
class basic_delay_probes {
public:
  /// `job` is about to be queued, at `present` (ticks). Leaves a note where its slot is free, or
  /// has a note from before `old`.
  void place(const void* job, std::uint64_t present, std::uint64_t old) noexcept {
    auto& slot = slot_of(job);
    const auto* before = slot.job.load(std::memory_order_relaxed);
    // Relaxed: if the time is that of another note by now, one note too many is lost.
    if (before == &claimed
        || (before != nullptr && slot.since.load(std::memory_order_relaxed) >= old)
        || !slot.job.compare_exchange_strong(before, &claimed, std::memory_order_acquire,
                                             std::memory_order_relaxed))
      return;
    if (before == nullptr)
      count_.fetch_add(1, std::memory_order_relaxed);
    slot.since.store(present, std::memory_order_relaxed);
    slot.job.store(job, std::memory_order_release);
  }

  /// Whether take() may find something: one load, of what few write.
  bool any() const noexcept {
    return count_.load(std::memory_order_relaxed) != 0;
  }

  /// `job` is about to run. @returns when the note was left, if there is one
  std::optional<std::uint64_t> take(const void* job) noexcept {
    auto& slot = slot_of(job);
    const auto* mine = job;
    if (slot.job.load(std::memory_order_acquire) != mine)
      return std::nullopt;
    const auto since = slot.since.load(std::memory_order_relaxed);
    // Release: the time is read before the next one is written.
    if (!slot.job.compare_exchange_strong(mine, nullptr, std::memory_order_release,
                                          std::memory_order_relaxed))
      return std::nullopt;
    count_.fetch_sub(1, std::memory_order_relaxed);
    return since;
  }

private:
  static constexpr char claimed = 0;

  struct note {
    Atomic<const void*> job{nullptr};
    Atomic<std::uint64_t> since{0};
  };

  note& slot_of(const void* job) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(job);
    return slots_[(address >> 6 ^ address >> 12) % Slots];
  }

  Atomic<std::uint32_t> count_{0}; ///< of notes: written by who places or takes one
  alignas(64) std::array<note, Slots> slots_{};
};

using delay_probes = basic_delay_probes<>; // 64 delays measured at a time; a guess

} // namespace basal::actors
