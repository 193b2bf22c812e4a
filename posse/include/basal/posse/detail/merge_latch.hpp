#pragma once

#include <atomic>
#include <cstdint>

#include <basal/executors/detail/assert.hpp>

namespace basal::posse::detail {

/// Counts the merges that a suspended victim waits for, and itself as one more
/// until its stack is left. Whoever arrives last wakes it.
///
/// `Atomic` and `Waiter` are parameters so that tests can run the same code
/// under a controlled scheduler.
template <template <class> class Atomic, class Waiter>
class basic_merge_latch {
public:
  /// Begins anew: `count` arrivals, the victim's own included. Only while
  /// nobody else knows the latch. Relaxed: handing over the delegations
  /// publishes it.
  void expect(std::uint32_t count) noexcept {
    pending_.store(count, std::memory_order_relaxed);
  }

  /// One more, unless all have arrived. Relaxed: the caller's own hand-over
  /// publishes what it adds.
  bool try_add() noexcept {
    auto pending = pending_.load(std::memory_order_relaxed);
    while (pending != 0)
      if (pending_.compare_exchange_weak(pending, pending + 1, std::memory_order_relaxed,
                                         std::memory_order_relaxed))
        return true;
    return false;
  }

  /// @returns whether all have arrived: then the caller wakes `waiter`. If not,
  ///          the latch may be gone.
  bool arrive() noexcept {
    // Release: what the delegate has stored. Acquire: for the last one, so that
    // waking passes on what all have stored.
    const auto before = pending_.fetch_sub(1, std::memory_order_acq_rel);
    BASAL_ASSERT(before > 0, "no more arrive than are expected");
    return before == 1;
  }

  /// Written by the victim before it arrives; read by who arrives last.
  Waiter waiter{};

private:
  Atomic<std::uint32_t> pending_{0};
};

/// The end of a delegate, whose result is stored: announces it to a victim that waits at the merge
/// (`merged`), or for all its delegates (`latch`, may be null). The order matters. The latch lives
/// in the victim, which goes on as soon as it is woken or has seen `merged`; so the latch comes
/// first. The delegation that holds `merged` lives until the victim has seen `merged`; so `merged`
/// is the last thing touched, except for the waiter, who sleeps until `wake`.
template <class Completion, class Latch, class Wake>
void finish_merge(Completion& merged, Latch* latch, Wake wake) noexcept {
  if (latch != nullptr && latch->arrive()) {
    auto waiter = latch->waiter;
    merged.set();
    wake(waiter);
  } else {
    merged.set();
  }
}

} // namespace basal::posse::detail
