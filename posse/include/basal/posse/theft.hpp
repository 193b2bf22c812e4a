#pragma once

#include <array>
#include <cstddef>
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

constexpr const char* to_string(victim_policy x) noexcept {
  constexpr const char* names[] = {"run_victim", "suspend_victim"};
  return names[static_cast<int>(x)];
}

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

  /// The member is inside of a sequential scope: what it forks there is not
  /// eligible.
  bool in_sequence = false;

  /// An executor of this executor's own pool sleeps, which would take that
  /// other work.
  bool sibling_idle = false;
};

/// What comes of a look for a theft: what was given away, or why nothing was.
/// decide_theft() knows the first group of reasons; the second shows when the
/// decision is carried out. Each look is counted under one verdict.
///
/// The set is written down here, once more in describe(), and nowhere else:
/// counters, statistics and their text are made from it.
enum class theft_verdict : std::uint8_t {
  delegate_oldest,
  delegate_two,

  nobody_idle,
  actors_first,
  once_a_quantum,
  too_young,
  in_sequence,
  single,

  cabal_full,
  no_room,
  victim_goes_on,
  out_of_memory,
};

struct theft_verdict_text {
  const char* name; ///< of the enumerator
  const char* meaning;
};

constexpr theft_verdict_text describe(theft_verdict verdict) noexcept {
  using enum theft_verdict;
  switch (verdict) {
  case delegate_oldest:
    return {"delegate_oldest", "the most basal right continuation was handed over"};
  case delegate_two:
    return {"delegate_two", "so was it, and the victim's executor runs the next one"};
  case nobody_idle:
    return {"nobody_idle", "no compute executor was idle"};
  case actors_first:
    return {"actors_first", "an idle sibling could take whole work instead"};
  case once_a_quantum:
    return {"once_a_quantum", "the member had given one since its last quantum's end"};
  case too_young:
    return {"too_young", "no continuation had survived a full quantum"};
  case in_sequence:
    return {"in_sequence", "what the member forks there must not be divided, as in a solve"};
  case single:
    return {"single", "there was one continuation, where a victim that is to wait gives two"};
  case cabal_full:
    return {"cabal_full", "no idle executor may join the cabal"};
  case no_room:
    return {"no_room", "the executor held more of the computation than its memory limit allows"};
  case victim_goes_on:
    return {"victim_goes_on", "the victim's last delegate had merged"};
  case out_of_memory:
    return {"out_of_memory", "there was no memory for a delegation, a context or a stack"};
  }
  return {};
}

/// Verdicts are numbered from 0 to below this.
inline constexpr std::size_t num_theft_verdicts = [] {
  std::size_t count = 0;
  while (describe(static_cast<theft_verdict>(count)).name != nullptr)
    ++count;
  return count;
}();

/// One `Value` for each verdict.
template <class Value>
class by_theft_verdict {
public:
  constexpr Value& operator[](theft_verdict verdict) noexcept {
    return values_[static_cast<std::size_t>(verdict)];
  }

  constexpr const Value& operator[](theft_verdict verdict) const noexcept {
    return values_[static_cast<std::size_t>(verdict)];
  }

  /// Calls `f(verdict, value)` for each.
  template <class F>
  constexpr void for_each(F f) const {
    for (std::size_t i = 0; i < num_theft_verdicts; ++i)
      f(static_cast<theft_verdict>(i), values_[i]);
  }

  bool operator==(const by_theft_verdict&) const = default;

private:
  std::array<Value, num_theft_verdicts> values_{};
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
    return view.in_sequence ? theft_verdict::in_sequence : theft_verdict::too_young;
  switch (view.policy) {
  case victim_policy::run_victim:
    break;
  case victim_policy::suspend_victim:
    if (!view.victim_is_suspended)
      return view.eligible < 2 ? theft_verdict::single : theft_verdict::delegate_two;
  }
  return theft_verdict::delegate_oldest;
}

} // namespace basal::posse
