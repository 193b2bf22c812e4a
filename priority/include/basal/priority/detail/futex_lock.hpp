#pragma once

#include <atomic>
#include <cstdint>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/parker.hpp>

namespace basal::priority::detail {

/// A mutex for a few instructions' work, inlined where std::mutex is a call: the second of
/// Drepper's ("Futexes Are Tricky", 2011). A thread that finds it taken sleeps at once: spinning
/// would only move the protected lines back and forth, while the holder has them in its cache.
///
/// `Word` is a template parameter so that tests can run the same code under a
/// controlled scheduler.
template <class Word = executors::futex_word>
class basic_futex_lock {
public:
  void lock() noexcept {
    std::uint32_t expected = open;
    if (!word_.compare_exchange_strong(expected, taken, std::memory_order_acquire,
                                       std::memory_order_relaxed))
      lock_slow();
  }

  void unlock() noexcept {
    const auto before = word_.exchange(open, std::memory_order_release);
    BASAL_ASSERT(before != open, "a lock that is unlocked was taken");
    if (before == contended)
      Word::futex_wake_one(&word_);
  }

private:
  static constexpr std::uint32_t open = 0;
  static constexpr std::uint32_t taken = 1;
  static constexpr std::uint32_t contended = 2; ///< somebody may sleep

  [[gnu::noinline]] void lock_slow() noexcept {
    // Taken as contended even if nobody else sleeps: that cannot be known.
    while (word_.exchange(contended, std::memory_order_acquire) != open)
      word_.futex_wait(contended);
  }

  Word word_{open};
};

using futex_lock = basic_futex_lock<>;

} // namespace basal::priority::detail
