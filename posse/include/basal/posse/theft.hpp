#pragma once

#include <cstdint>

namespace basal::posse {

/// What a member's executor knows when it considers a theft. Plain data, so
/// that the decision can be tested and simulated by itself.
struct theft_view {
  /// A right continuation that no delegate runs yet has survived a full
  /// quantum: it was first seen at an earlier quantum's end than the last one.
  bool oldest_is_eligible = false;

  /// This member already lost a continuation since its last quantum's end.
  bool stole_this_quantum = false;

  /// A compute executor sleeps: it has nothing runnable.
  bool compute_executor_idle = false;

  /// Work waits here that a sibling could take.
  bool work_waits_here = false;

  /// An executor of this executor's own pool sleeps, which would take that
  /// other work.
  bool sibling_idle = false;
};

/// What to do, and if nothing, why; the reasons are counted.
enum class theft_verdict : std::uint8_t {
  delegate_oldest, ///< hand the most basal right continuation over
  nobody_idle,     ///< no executor to give it to
  actors_first,    ///< whole actors move before continuations
  once_a_quantum,  ///< one theft per member and quantum
  too_young,       ///< hysteresis: nothing has survived a full quantum
};

/// The rule, in the order that costs least to find out. At most one theft per
/// member and quantum; none while somebody idle could take a whole actor
/// instead (it needs no merge and no memory); only continuations that survived
/// a full quantum, so that what is stolen is probably worth a quantum of work.
constexpr theft_verdict decide_theft(const theft_view& view) noexcept {
  if (!view.compute_executor_idle)
    return theft_verdict::nobody_idle;
  if (view.work_waits_here && view.sibling_idle)
    return theft_verdict::actors_first;
  if (view.stole_this_quantum)
    return theft_verdict::once_a_quantum;
  if (!view.oldest_is_eligible)
    return theft_verdict::too_young;
  return theft_verdict::delegate_oldest;
}

} // namespace basal::posse
