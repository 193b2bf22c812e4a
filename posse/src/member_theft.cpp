// Thefts from a member: from which member, to which executor, with which records.

#include <basal/posse/member.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <tuple>
#include <utility>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/executor.hpp>
#include <basal/executors/executor_pool.hpp>
#include <basal/posse/detail/cells.hpp>
#include <basal/posse/detail/charge_frame.hpp>
#include <basal/posse/detail/computation.hpp>
#include <basal/posse/detail/memory_context.hpp>
#include <basal/posse/runtime.hpp>

namespace basal::posse {

namespace {

constexpr auto never = std::numeric_limits<std::uint64_t>::max();

/// A theft costs some three times what the delegate's beginning takes: the victim makes the
/// delegation, and learns of the end. Measured with loops of 3 to 16 us, whose CPUs were near to
/// each other and far.
constexpr std::uint64_t hand_overs_a_theft = 3;

} // namespace

/// After a survey: nodes that may be stolen, up to 2; by hysteresis::quantum, that
/// have survived a full one. Those that were forked inside of a sequential scope
/// stay: they are below it.
std::uint32_t member::eligible() const noexcept {
  const auto by_age = origin_->host.config().steal_by == hysteresis::quantum;
  const auto* scope = fiber_->sequential();
  std::uint32_t count = 0;
  for (auto* node = oldest_ready_;
       node != nullptr && count < 2 && node->current_state() == right_continuation::state::stamped
       && (!by_age || quantum_ - node->stamp >= 2)
       && (scope == nullptr || std::greater<>{}(node, scope));
       node = node->younger)
    ++count;
  return count;
}

/// By hysteresis::worth: ticks since `node` was first seen.
std::uint64_t member::age_of(const right_continuation& node, std::uint64_t now) const noexcept {
  const auto age = static_cast<std::uint32_t>(now >> stamp_shift) - node.stamp;
  return std::uint64_t{age} << stamp_shift;
}

/// After a survey: the ticks that `node`, which is ready, is known to stand for. Where it is
/// not known by itself, by the next younger node of which something is known: what is left of a
/// branch is a measure for those that its forks have put off, unless it is about to end.
std::uint64_t member::known_work(const right_continuation& node) const noexcept {
  constexpr int far = 16; // it is looked for at each look while it is not found
  const auto* n = &node;
  for (int i = 0; n != nullptr && i < far; n = n->younger, ++i)
    if (auto work = n->expected(); work != 0) {
      while (n != &node) {
        n = n->older();
        work = n->expected(work);
      }
      return work;
    }
  return 0;
}

/// Whether `other`, a member of the same posse on this executor, can lose a
/// continuation to this one's decision. Its fiber is suspended, so its list
/// stands still. Where victims are to wait, one that only yields cannot be made
/// to; where they run, one that waits for a merge has nothing ready, because
/// all that is older than the merge was taken before.
bool member::may_be_stolen_from(const member& other, victim_policy policy) const noexcept {
  return &other == this || other.suspended_ || policy == victim_policy::run_victim;
}

/// The first member with an eligible node, in the order in which they began
/// here; null if there is none.
member* member::most_basal(std::uint64_t now) noexcept {
  if (context_ == nullptr) {
    survey(now, false);
    return eligible() != 0 ? this : nullptr;
  }
  auto policy = origin_->host.victims();
  for (auto* m = context_->oldest; m != nullptr; m = m->younger_member_)
    if (may_be_stolen_from(*m, policy)) {
      m->survey(now, false);
      if (m->eligible() != 0)
        return m;
    }
  return nullptr;
}

/// By hysteresis::worth: ticks that a theft costs with an executor that is awake, if its delegate
/// begins after `hand_over` ticks.
std::uint64_t member::cost_awake(std::uint64_t hand_over) const noexcept {
  const auto& host = origin_->host;
  BASAL_ASSERT(host.config().steal_by == hysteresis::worth, "else no theft is judged by its cost");
  return std::clamp(hand_overs_a_theft * hand_over, least_offer_ / 2, host.awake_ticks_);
}

/// Whether two parts of `work`, which is least_offer_ at least, would pay for a theft.
bool member::pays(std::uint64_t work) const noexcept {
  return work >= 2 * cost_awake(cells_->hand_over.hoped());
}

/// A range begins with `work` that is_worth_an_offer() was false for.
void member::note_refusal(std::uint64_t work) noexcept {
  if (work >= least_offer_)
    cells_->hand_over.note_refusal();
}

/// How many compute executors are idle and may join the cabal: a snapshot.
struct member::idle_ones {
  std::uint64_t awake = 0;
  std::uint64_t asleep = 0;
};

member::idle_ones member::idle_executors() const noexcept {
  const auto& pool = *origin_->host.compute_;
  const std::uint64_t most = origin_->cabal_limit() - 1;
  idle_ones result;
  for (std::size_t i = 0; i < pool.size(); ++i)
    if (pool.is_idle(i))
      ++(pool.is_looking(i) ? result.awake : result.asleep);
  const std::uint64_t available = origin_->host.num_available();
  result.awake = std::min(result.awake, available);
  result.asleep = std::min(result.asleep, available - result.awake);
  result.awake += origin_->host.num_open_hatches(*executor_);
  if (const auto* caller = origin_->caller; caller != nullptr && caller != executor_) {
    const auto& its = caller->pool();
    if (its.is_idle(caller->index()))
      ++(its.is_looking(caller->index()) ? result.awake : result.asleep);
  }
  result.awake = std::min(result.awake, most);
  result.asleep = std::min(result.asleep, most - result.awake);
  return result;
}

/// One theft at most by hysteresis::quantum; by hysteresis::worth one after the other,
/// to as many idle executors as are worth it.
/// @returns ticks until what is too young for somebody idle will be old enough
std::uint64_t member::consider_theft(std::uint64_t now) noexcept {
  auto& host = origin_->host;
  for (bool first = true;; first = false) {
    theft_view view;
    member* victim = nullptr;
    right_continuation::division how;
    idle_ones idle;
    std::uint64_t age = 0;
    view.rule = host.config().steal_by;
    view.compute_executor_idle = origin_->anybody_idle(*executor_);
    if (view.compute_executor_idle) { // the rest costs more to find out
      view.policy = host.victims();
      victim = most_basal(now);
      view.in_sequence = fiber_->sequential() != nullptr;
      view.stole_this_quantum = last_theft_ == quantum_;
      view.work_waits_here = executor_->work_waits_for_siblings();
      view.sibling_idle = executor_->pool().any_idle();
    }
    if (victim != nullptr) {
      view.eligible = victim->eligible();
      view.may_spread = origin_->cabal_limit() > 1; // else none is counted as idle below
      view.victim_is_suspended = victim->suspended_;
      if (view.rule == hysteresis::worth) {
        idle = idle_executors();
        const auto& node = *victim->oldest_ready_;
        const auto work = victim->known_work(node);
        view.known = work != 0;
        // Work that is divided in two is compared with what thefts have cost lately.
        const auto recent = cost_awake(cells_->hand_over.hoped());
        const auto doublings = origin_->doublings_of_age();
        const auto cost_of_unknown = (idle.awake != 0 ? recent : host.asleep_ticks_) << doublings;
        view.cost = cost_of_unknown;
        if (view.known) {
          how.parts = worthwhile_parts(work, idle.awake, host.awake_ticks_, idle.asleep,
                                       host.asleep_ticks_);
          if (idle.awake != 0) {
            how.parts = std::max(how.parts, worthwhile_parts(work, 1, recent, 0, 0));
            how.delay = cells_->hand_over.delay();
          }
          view.expected = how.parts > 1 && !node.is_better_alone() ? work / how.parts : 0;
        }
        age = doublings != 0 ? victim->age_of(node, now)
                             : std::max(victim->age_of(node, now), victim->stretch_);
        if (!view.known || (how.parts == 1 && age >= 2 * cost_of_unknown && node.expected() == 0)) {
          how.parts = idle.awake + idle.asleep + 1;
          view.expected
            = view.known || doublings != 0 ? age : std::max(age, victim->expected_left(now) / 2);
          view.known = false;
        }
      }
    }
    auto verdict = decide_theft(view);
    if (verdict == theft_verdict::delegate_two) {
      delegate_two(view);
      return never;
    }
    if (verdict == theft_verdict::delegate_oldest) {
      // One that has become idle after the count takes no more than a half.
      how.parts = std::max<std::uint64_t>(how.parts, 2);
      verdict = delegate_oldest(*victim, view, how);
    }
    if (verdict != theft_verdict::delegate_oldest) {
      if (first)
        count(verdict);
      if (idle.awake == 0 && idle.asleep != 0)
        consider_waking(*victim, view, now);
      return verdict == theft_verdict::too_young && victim != nullptr
                 && view.rule == hysteresis::worth
               ? 2 * view.cost - age
               : never;
    }
    if (view.rule == hysteresis::quantum)
      return never;
  }
}

/// All idle executors sleep, and what there is does not pay for a wake-up: has it by now?
void member::consider_waking(const member& victim, theft_view view, std::uint64_t now) noexcept {
  auto& host = origin_->host;
  view.cost = cost_awake(cells_->hand_over.mean());
  const auto& node = *victim.oldest_ready_;
  if (view.known)
    view.expected = node.is_better_alone() ? 0 : victim.known_work(node) / 2;
  if (decide_theft(view) == theft_verdict::delegate_oldest
      && cells_->forgone.note(now, view.expected, host.asleep_ticks_))
    host.compute_->rouse();
}

std::uint64_t member::now() const noexcept {
  return executor_->now();
}

void member::offer() noexcept {
  if (has_idle_others())
    std::ignore = consider_theft(executor_->now());
}

/// Whether a sleeping executor is worth its wake-up for that.
bool member::may_wake(const theft_view& view) const noexcept {
  return view.rule == hysteresis::quantum
         || view.expected >= origin_->host.asleep_ticks_ * (view.known ? 1 : 2);
}

/// Each look ends with one call, or with one for each theft, before anybody else can
/// see what came of it.
void member::count(theft_verdict verdict) noexcept {
  cells_->verdicts[verdict].add();
}

/// A delegation of a node that is still ready, or why there is none.
struct member::prepared {
  std::unique_ptr<detail::delegation> made;
  theft_verdict why_not = theft_verdict::out_of_memory;
};

/// @returns delegate_oldest, which is counted, or why it did not come to that
theft_verdict member::delegate_oldest(member& from, const theft_view& view,
                                      right_continuation::division how) noexcept {
  auto offered = enter_context() ? from.prepare(*from.oldest_ready_, how) : prepared{};
  if (offered.made == nullptr)
    return offered.why_not;
  auto target = origin_->claim_target(*executor_, offered.made->lineage_bytes, may_wake(view));
  if (target.context == nullptr) {
    from.give_up(std::move(offered.made));
    return target.why_not;
  }
  count(theft_verdict::delegate_oldest);
  last_theft_ = quantum_;
  offered.made->taken_at = executor_->now();
  if (target.was_awake)
    offered.made->sent_at = offered.made->taken_at;
  auto& given = from.take(std::move(offered.made), *target.context, &view);
  origin_->host.delegate(given, target);
  return theft_verdict::delegate_oldest;
}

/// Suspends this member until both delegates, and all that are taken from it
/// meanwhile, have merged. Everything happens once its stack is left, when
/// nothing can fail any more but the claim.
void member::delegate_two(const theft_view& view) noexcept {
  auto& first = *oldest_ready_;
  auto& second = *first.younger;
  auto to_other = enter_context() ? prepare(first, {}).made : nullptr;
  auto to_self = to_other != nullptr ? prepare(second, {}).made : nullptr;
  if (to_self == nullptr) { // of a member that runs, only memory can be the reason
    count(theft_verdict::out_of_memory);
    return;
  }
  if (!has_room_for(*to_self)) {
    count(theft_verdict::no_room);
    return;
  }
  auto suspended_at = executor_->now();
  auto stolen = false;
  auto publish = [&](executors::fiber& f) noexcept {
    auto target = origin_->claim_target(*executor_, to_other->lineage_bytes, may_wake(view));
    if (target.context == nullptr) {
      count(target.why_not);
      executors::executor::wake(f);
      return;
    }
    count(theft_verdict::delegate_two);
    stolen = suspended_ = true;
    if (target.was_awake)
      to_other->sent_at = executor_->now();
    cells_->merge_waits.add();
    last_theft_ = quantum_;
    latch_.expect(3); // the two, and this stack's being left
    latch_.waiter = &f;
    to_other->latch = to_self->latch = &latch_;
    auto& other = take(std::move(to_other), *target.context, &view);
    auto& own = take(std::move(to_self), *context_, &view);
    executor_->push_pinned(own.sent->node);
    origin_->host.delegate(other, target);
    if (latch_.arrive())
      executors::executor::wake(f);
  };
  if (!executor_->suspend(publish, "the branches that were stolen from it")) {
    count(theft_verdict::out_of_memory);
    return;
  }
  suspended_ = false;
  if (stolen)
    resume(suspended_at);
}

/// Most basal continuation of the victims that wait on this executor, taken for
/// this executor itself, whose delegate has ended or waits: else it would do
/// nothing for the posse. Null if there is none, or that one cannot be taken: a less
/// basal one is never taken instead.
detail::delegation* member::take_seamlessly(std::uint64_t now) noexcept {
  if (context_ == nullptr)
    return nullptr;
  for (auto* m = context_->oldest; m != nullptr; m = m->younger_member_) {
    if (!m->suspended_)
      continue;
    m->survey(now, false);
    if (m->eligible() == 0)
      continue;
    auto d = m->prepare(*m->oldest_ready_, {}).made;
    if (d == nullptr)
      return nullptr; // it is about to go on, here
    if (!has_room_for(*d)) {
      m->give_up(std::move(d));
      return nullptr;
    }
    cells_->seamless_thefts.add();
    return &m->take(std::move(d), *context_, nullptr);
  }
  return nullptr;
}

/// Whether `d` would find as much room on this executor as in sequence: the
/// members that wait here may hold more than its victims did at the fork.
bool member::has_room_for(const detail::delegation& d) const noexcept {
  return context_->bytes() <= origin_->bytes_to_begin_with(d.lineage_bytes);
}

/// Makes the delegation of this member's oldest ready node, or the next; of what can
/// be divided, of its last part.
member::prepared member::prepare(right_continuation& node,
                                 right_continuation::division how) noexcept {
  BASAL_ASSERT(node.current_state() == right_continuation::state::stamped,
               "a survey comes before the theft, which is one");
  auto d = node.make_delegation(*origin_, how);
  if (d != nullptr)
    d->sent.reset(new (std::nothrow) detail::parcel{*d});
  if (d == nullptr || d->sent == nullptr)
    return {nullptr, theft_verdict::out_of_memory};
  d->victim = as_;
  d->stretch = stretch_;
  if (expected_ != 0 && node.expected() == 0)
    d->expected = expected_left(executor_->now()) / 2;
  d->lineage_bytes = lineage_bytes_at(node);
  d->carried.account = origin_->account;
  if (const auto* kind = detail::account_carrier.load(std::memory_order_acquire))
    d->carried.replace(*kind, account_at(node));
  if (suspended_) {
    if (!latch_.try_add())
      return {nullptr, theft_verdict::victim_goes_on};
    d->latch = &latch_;
  }
  return {.made = std::move(d)};
}

void member::give_up(std::unique_ptr<detail::delegation> d) noexcept {
  if (d->latch != nullptr && d->latch->arrive())
    executors::executor::wake(*d->latch->waiter);
}

/// Takes the oldest ready node.
detail::delegation& member::take(std::unique_ptr<detail::delegation> d, detail::memory_context& to,
                                 const theft_view* view) noexcept {
  BASAL_ASSERT(oldest_ready_ != nullptr, "a survey comes before the theft");
  BASAL_ASSERT(d->sent != nullptr && d->context == nullptr, "a delegation is sent once");
  BASAL_ASSERT(&to.origin == origin_, "a delegation goes to its own computation's context");
  auto& node = *oldest_ready_;
  auto& result = *d;
  result.context = &to;
  if (origin_->has_memory_limit()) [[unlikely]]
    to.expected.fetch_add(1, std::memory_order_relaxed);
  result.sent->node.item = runtime::item_of(*result.sent);
  report(node, to, view);
  executor_->record(executors::record_kind::theft, executor_->last_look(), &result,
                    origin_->name());
  if (result.expected != 0) {
    expected_ = result.expected;
    expected_since_ = executor_->now();
  }
  node.mark_taken(d.release());
  oldest_ready_ = node.younger;
  cells_->thefts.add();
  cells_->of(origin_->number).thefts.add();
  return result;
}

/// A victim that has come to the merge takes the delegation back if its executor has
/// not begun: it sleeps, or its thread has to wait for a CPU, which takes from 50 us up
/// to some time slices of others. By hysteresis::worth alone; not from a victim that
/// waits for all its delegates, and not under a memory limit, where members on that
/// executor may wait for what is on its way there.
/// @returns whether: then nobody else uses `d`
bool member::take_back(detail::delegation& d) noexcept {
  if (origin_->host.config().steal_by != hysteresis::worth || d.latch != nullptr
      || origin_->has_memory_limit() || !d.sent->dispatch.take_back())
    return false;
  std::ignore = d.sent.release(); // now its receiver's
  cells_->taken_back.add();
  cells_->merges.add();
  cells_->of(origin_->number).merges.add();
  return true;
}

/// Tells the observer, if there is one.
void member::report(const right_continuation& node, detail::memory_context& to,
                    const theft_view* view) const noexcept {
  const auto& observer = origin_->host.config().thefts;
  if (observer.saw == nullptr)
    return;
  theft_event event;
  event.computation = origin_;
  event.from = executor_;
  event.to = to.where;
  event.seamless = view == nullptr;
  if (view != nullptr)
    event.view = *view;
  const auto by_age = origin_->host.config().steal_by == hysteresis::quantum;
  event.age = by_age ? quantum_ - node.stamp : 0;
  auto count_ready = [&](const member& m, const right_continuation* n) {
    for (; n != nullptr; n = n->older())
      event.more_basal += n->current_state() == right_continuation::state::stamped
                          && (!by_age || m.quantum_ - n->stamp >= 2);
  };
  count_ready(*this, node.older());
  for (auto* m = older_member_; m != nullptr; m = m->older_member_)
    if (event.view.policy == victim_policy::run_victim && view != nullptr ? true : m->suspended_)
      count_ready(*m, m->youngest_);
  event.cabal_size = origin_->cabal_size();
  event.context_bytes = to.bytes();
  observer.saw(observer.context, event);
}

} // namespace basal::posse
