#pragma once

#include <cstdint>

namespace basal::posse {

/// What becomes of a member that is stolen from.
enum class victim_policy : std::uint8_t {
  /// It goes on with its left branch; one continuation is stolen at a time.
  run_victim,

  /// The rule of Hemlock, whose collector moves what a running victim uses: two
  /// continuations are stolen at a time, one for the idle executor and one for
  /// this one, and the victim waits until all its delegates have merged. Of a
  /// member that waits like that, single ones are.
  suspend_victim,
};

/// What a member's executor knows when it considers a theft. Plain data, so
/// that the decision can be tested and simulated by itself.
struct theft_view {
  victim_policy policy = victim_policy::run_victim;

  /// Right continuations of the most basal member here that has any, that no
  /// delegate runs yet and that have survived a full quantum: each was first
  /// seen at an earlier quantum's end than the last one, or before the member's
  /// first quantum. Counted up to 2.
  std::uint32_t eligible = 0;

  /// They are those of a victim that is suspended until its delegates merge.
  bool victim_is_suspended = false;

  /// This member already gave a continuation since its last quantum's end.
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
  delegate_two,    ///< and run the next one here, while the victim waits
  nobody_idle,     ///< no executor to give it to
  actors_first,    ///< whole actors move before continuations
  once_a_quantum,  ///< one theft per member and quantum
  too_young,       ///< hysteresis: nothing has survived a full quantum
  single,          ///< a victim that is to wait must give two
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
  if (view.eligible == 0)
    return theft_verdict::too_young;
  if (view.policy == victim_policy::run_victim || view.victim_is_suspended)
    return theft_verdict::delegate_oldest;
  return view.eligible < 2 ? theft_verdict::single : theft_verdict::delegate_two;
}

} // namespace basal::posse
