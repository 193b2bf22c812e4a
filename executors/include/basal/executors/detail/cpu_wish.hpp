#pragma once

#include <atomic>

namespace basal::executors {

/// Whether work waits in the queues of a pool, and nobody was woken for it since there was no CPU.
/// Any thread; lock-free.
///
/// A thread that adds work makes the wish *before* it asks for a CPU. A thread that frees a CPU
/// does so, as the answer sees it, *before* it takes the wish, and then looks at the queues. So
/// where the question misses the CPU, the wish is seen; and where a wish is taken that somebody
/// relied on, that one's work is seen. All in the one total order of seq_cst.
template <template <class> class Atomic = std::atomic>
class basic_cpu_wish {
public:
  /// After making work visible: makes the wish.
  /// @returns has_cpu(), which reads in seq_cst what is written by whoever frees a CPU
  template <class HasCpu>
  bool ask(HasCpu has_cpu) noexcept {
    if (!is_there()) // written by few, read by many
      is_there_.store(true, std::memory_order_seq_cst);
    return has_cpu();
  }

  /// After a CPU has become free: whether take() is worth its write.
  bool is_there() const noexcept {
    return is_there_.load(std::memory_order_seq_cst);
  }

  /// @returns whether it was there: the caller must look at the queues now, and wake somebody or
  ///          ask again
  bool take() noexcept {
    return is_there_.exchange(false, std::memory_order_seq_cst);
  }

private:
  Atomic<bool> is_there_{false};
};

using cpu_wish = basic_cpu_wish<>;

} // namespace basal::executors
