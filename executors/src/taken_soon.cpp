// Work that wakes nobody, since an executor that is awake comes to it soon.

#include <basal/executors/executor_pool.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <basal/executors/detail/tick_clock.hpp>

namespace basal::executors {

/// Whether an actor's job that was just injected will have had its turn at an executor that is
/// awake before one that sleeps has woken up, or sooner than a theft pays for where one looks for
/// work: as far as is known of items. An executor that is awake looks at the queue before it
/// sleeps. Asks only where somebody would be woken.
bool executor_pool::is_taken_soon(const work_item& injected) const noexcept {
  if (injected.ops != config_.newest_ops || !idle_.would_wake())
    return false;
  const auto awake = idle_.next_awake(size() - 1); // the first one
  if (idle_.is_parked(awake))
    return false;
  // That one may be about to sleep. Of two that take turns at that, work is for the first, or both
  // would stay awake for what is enough for one.
  for (std::size_t i = 0; i < awake; ++i)
    if (idle_.is_looking(i))
      return false;
  return is_soon(executors_[awake]->time_for(injection_.size()));
}

/// The same of all that waits for executors that are awake.
bool executor_pool::all_is_taken_soon() const noexcept {
  if (config_.newest_ops == nullptr || !idle_.would_wake() || !nursery_.empty()
      || background_waits())
    return false;
  std::uint64_t longest = 0;
  for (const auto& e : executors_)
    if (!idle_.is_parked(e->index()))
      longest = std::max(longest, e->time_for(e->num_waiting() + injection_.size()));
  return longest != 0 && is_soon(longest);
}

bool executor_pool::is_soon(std::uint64_t ticks) const noexcept {
  return ticks < tick_clock::to_ticks(executor::worth_a_theft)
         || (ticks < tick_clock::to_ticks(executor::wake_up) && !idle_.any_looking());
}

} // namespace basal::executors
