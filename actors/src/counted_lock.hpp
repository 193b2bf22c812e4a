#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <sched.h>
#include <thread>

#include <basal/executors/detail/assert.hpp>

namespace basal::actors {

/// A lock for short sections that wait for nothing, and how many things it guards, in one word: to
/// lock, and to add or to remove one, is one atomic read-modify-write operation, where a mutex with
/// a counter beside it takes three. Who has to wait gives its CPU away, since the owner may have
/// lost its own, and then sleeps, since the owner's thread may be of lower priority.
///
/// The number may be read without the lock, in seq_cst, as lock_adding() writes it. So of two
/// threads that add something, each to a lock of its own, and ask then for the other's, one at
/// least sees that the other is not empty.
template <template <class> class Atomic = std::atomic>
class basic_counted_lock {
public:
  void lock() noexcept {
    if (!acquire(0)) [[unlikely]]
      acquire_at_last(0);
  }

  /// Counts one more at the same time: whoever sees it waits until it is there.
  void lock_adding() noexcept {
    if (!acquire(one)) [[unlikely]]
      acquire_at_last(one);
  }

  bool try_lock() noexcept {
    return acquire(0);
  }

  void unlock() noexcept {
    release(0);
  }

  /// Counts one less at the same time.
  void unlock_removing() noexcept {
    BASAL_ASSERT(word_.load(std::memory_order_relaxed) > one, "what is removed was added");
    release(one);
  }

  /// Whether nothing is there, and nobody is about to add anything.
  bool is_empty() const noexcept {
    return word_.load(std::memory_order_seq_cst) < one;
  }

private:
  static constexpr std::uint32_t locked = 1;
  static constexpr std::uint32_t one = 2;

  [[gnu::noinline, gnu::cold]] void acquire_at_last(std::uint32_t more) noexcept {
    constexpr int most_yields = 16;
    for (int attempt = 0; !acquire(more); ++attempt)
      if (attempt < most_yields)
        sched_yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds{50});
  }

  bool acquire(std::uint32_t more) noexcept {
    auto word = word_.load(std::memory_order_relaxed);
    return (word & locked) == 0
           && word_.compare_exchange_strong(word, (word + more) | locked, std::memory_order_seq_cst,
                                            std::memory_order_relaxed);
  }

  /// Nobody else writes the word of a lock that is held.
  void release(std::uint32_t less) noexcept {
    const auto word = word_.load(std::memory_order_relaxed);
    BASAL_ASSERT((word & locked) != 0, "a lock is released by who holds it");
    word_.store((word - less) & ~locked, std::memory_order_release);
  }

  /// `locked`, and `one` for each thing. Written by who takes the lock, and by who has it; read by
  /// anybody. Release and acquire: who takes the lock sees what was written under it.
  Atomic<std::uint32_t> word_{0};
};

using counted_lock = basic_counted_lock<>;

} // namespace basal::actors
