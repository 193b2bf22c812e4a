#include <basal/solver/stats.hpp>

namespace basal::solver {

std::size_t shared_counters::copy_of_this_thread() noexcept {
  // Threads by turns. Relaxed: only the numbers matter.
  static std::atomic<std::size_t> threads{0};
  thread_local const std::size_t mine = threads.fetch_add(1, std::memory_order_relaxed) % copies;
  return mine;
}

} // namespace basal::solver
