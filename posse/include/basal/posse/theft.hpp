#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace basal::posse {

/// The fate of a member that is stolen from.
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

/// When a right continuation may be stolen.
enum class hysteresis : std::uint8_t {
  /// When what it is expected to take is worth what the theft costs: see
  /// theft_view::expected. One that nothing is known of must have waited for
  /// twice that cost, or stem from a member whose safepoints are so far apart. Any
  /// number of them in one look, to as many idle executors.
  worth,

  /// The rule of Hemlock: once it has survived a full quantum; at most one theft
  /// per member and quantum.
  quantum,
};

constexpr const char* to_string(hysteresis x) noexcept {
  constexpr const char* names[] = {"worth", "quantum"};
  return names[static_cast<int>(x)];
}

/// The cost of a theft, in all, until the delegate works and the victim has its result:
/// nanoseconds, by the state of the executor that gets it.
struct theft_costs {
  /// It looks for a wake-up. Measured with loops of 4 to 20 us: one that is divided takes half of
  /// its time and 2.3 to 3.8 us, with CPUs between which a cache line goes to and fro in 370 ns;
  /// less with nearer ones. The most, see `measure`.
  std::uint64_t awake_ns = 3'000;

  /// It sleeps in the kernel: the victim's system call takes 5 to 40 us, the
  /// way through the kernel 60 to 100.
  std::uint64_t asleep_ns = 100'000;

  /// Forks, and work that is to be divided in two, are compared with what an executor's last thefts
  /// have cost if the thief is awake: `awake_ns` / 4 at least, also where there was none yet, and
  /// `awake_ns` at most. False: with `awake_ns`.
  bool measure = true;
};

/// The facts that a member's executor knows when it considers a theft. Plain data, so that the
/// decision can be tested and simulated by itself.
struct theft_view {
  /// The fate of the victim if there is a theft.
  victim_policy policy = victim_policy::run_victim;

  /// By which rule is decided.
  hysteresis rule = hysteresis::worth;

  /// Right continuations of the most basal member here that has any, and that no
  /// delegate runs yet. By the rule of quanta those that have survived a full
  /// one: each was first seen at an earlier quantum's end than the last one, or
  /// before the member's first quantum. Counted up to 2.
  std::uint32_t eligible = 0;

  /// The time that the part to be handed over of the most basal one will take, in the units of
  /// `cost`. `known`: by the cost of its range's elements so far and the number of those left. Else
  /// it is the continuation's age, since its left branch has taken as long and goes on, or the mean
  /// time between its member's last safepoints, or a half of what the computation is expected to
  /// take yet, by the last one that began with the same fork; the longest of them.
  std::uint64_t expected = 0;

  /// Whether `expected` rests on the cost of its range's elements.
  bool known = false;

  /// The cost of the theft with the executor that would get it.
  std::uint64_t cost = 0;

  /// They are those of a victim that is suspended until its delegates merge.
  bool victim_is_suspended = false;

  /// This member already gave a continuation since its last quantum's end.
  bool stole_this_quantum = false;

  /// A compute executor sleeps: it has nothing runnable.
  bool compute_executor_idle = false;

  /// The cabal may have more executors than the one it began on.
  bool may_spread = true;

  /// Work waits here that a sibling could take.
  bool work_waits_here = false;

  /// The member is inside of a sequential scope: what it forks there is not
  /// eligible.
  bool in_sequence = false;

  /// An executor of this executor's own pool sleeps, which would take that
  /// other work.
  bool sibling_idle = false;
};

/// The outcome of a look for a theft: the kind of theft, or the reason why there was none.
/// decide_theft() knows the first group of reasons; the second shows when the decision is carried
/// out. Each look is counted under one verdict.
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
  not_worth_it,
  in_sequence,
  single,

  cabal_full,
  no_room,
  victim_goes_on,
  out_of_memory,
};

/// The text that all looks with a verdict have in common.
struct theft_verdict_text {
  const char* name;    ///< of the enumerator
  const char* meaning; ///< a sentence for statistics and reports
};

constexpr theft_verdict_text describe(theft_verdict verdict) noexcept {
  using enum theft_verdict;
  switch (verdict) {
  case delegate_oldest:
    return {"delegate_oldest", "the most basal right continuation was handed over"};
  case delegate_two:
    return {"delegate_two", "so was it, and the victim's executor runs the next one"};
  case nobody_idle:
    return {"nobody_idle", "no compute executor was idle, or no CPU was left for it"};
  case actors_first:
    return {"actors_first", "an idle sibling could take whole work instead"};
  case once_a_quantum:
    return {"once_a_quantum", "the member had given one since its last quantum's end"};
  case too_young:
    return {"too_young", "no continuation had waited for long enough"};
  case not_worth_it:
    return {"not_worth_it", "what is left of the range would not pay for the theft"};
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
  /// The value of a verdict.
  /// @{
  constexpr Value& operator[](theft_verdict verdict) noexcept {
    return values_[static_cast<std::size_t>(verdict)];
  }

  constexpr const Value& operator[](theft_verdict verdict) const noexcept {
    return values_[static_cast<std::size_t>(verdict)];
  }
  /// @}

  /// Calls `f(verdict, value)` for each.
  template <class F>
  constexpr void for_each(F f) const {
    for (std::size_t i = 0; i < num_theft_verdicts; ++i)
      f(static_cast<theft_verdict>(i), values_[i]);
  }

  /// Whether all values are equal.
  bool operator==(const by_theft_verdict&) const = default;

private:
  std::array<Value, num_theft_verdicts> values_{};
};

/// Into how many parts a range with work left that takes `work` is divided: one
/// for its member, and one for each of the idle executors, as many of them as
/// are worth it. Those that sleep are woken if all get a part that pays for that.
/// All three in the same unit. 1: it is not worth a theft at these costs.
constexpr std::uint64_t worthwhile_parts(std::uint64_t work, std::uint64_t awake,
                                         std::uint64_t awake_cost, std::uint64_t asleep,
                                         std::uint64_t asleep_cost) noexcept {
  const auto parts = [work](std::uint64_t idle, std::uint64_t cost) {
    const auto most = cost != 0 ? work / cost : work;
    return idle + 1 < most ? idle + 1 : most < 2 ? std::uint64_t{1} : most;
  };
  const auto of_awake = awake != 0 ? parts(awake, awake_cost) : 1;
  const auto of_all = asleep != 0 ? parts(awake + asleep, asleep_cost) : 1;
  return of_all > of_awake ? of_all : of_awake;
}

/// The rule, in the order that costs least to find out. None while somebody idle
/// could take a whole actor instead (it needs no merge and no memory); by
/// hysteresis::quantum at most one theft per member and quantum, and only
/// continuations that survived a full quantum, so that what is stolen is probably
/// worth a quantum of work; by hysteresis::worth what is expected to pay.
constexpr theft_verdict decide_theft(const theft_view& view) noexcept {
  if (!view.compute_executor_idle)
    return theft_verdict::nobody_idle;
  if (view.work_waits_here && view.sibling_idle)
    return theft_verdict::actors_first;
  if (view.rule == hysteresis::quantum && view.stole_this_quantum)
    return theft_verdict::once_a_quantum;
  if (view.eligible == 0)
    return view.in_sequence ? theft_verdict::in_sequence : theft_verdict::too_young;
  if (!view.may_spread)
    return theft_verdict::cabal_full;
  switch (view.rule) {
  case hysteresis::quantum:
    break;
  case hysteresis::worth:
    if (view.known && view.expected < view.cost)
      return theft_verdict::not_worth_it;
    if (!view.known && view.expected < 2 * view.cost)
      return theft_verdict::too_young;
  }
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
