// What a member gives away: whom it is taken from, to whom it goes, what is told of it.

#include <basal/posse/member.hpp>

#include <functional>
#include <memory>
#include <utility>

#include <basal/executors/executor.hpp>
#include <basal/executors/executor_pool.hpp>
#include <basal/posse/detail/cells.hpp>
#include <basal/posse/detail/charge_frame.hpp>
#include <basal/posse/detail/computation.hpp>
#include <basal/posse/detail/memory_context.hpp>
#include <basal/posse/runtime.hpp>

namespace basal::posse {

/// After a survey: ready nodes that have survived a full quantum, up to 2. Those
/// that were forked inside of a sequential scope stay: they are below it.
std::uint32_t member::eligible() const noexcept {
  const auto* scope = fiber_->sequential();
  std::uint32_t count = 0;
  for (auto* node = oldest_ready_;
       node != nullptr && count < 2 && node->current_state() == right_continuation::state::stamped
       && quantum_ - node->stamp >= 2 && (scope == nullptr || std::greater<>{}(node, scope));
       node = node->younger)
    ++count;
  return count;
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
member* member::most_basal() noexcept {
  if (context_ == nullptr) {
    survey(false);
    return eligible() != 0 ? this : nullptr;
  }
  auto policy = origin_->host.victims();
  for (auto* m = context_->oldest; m != nullptr; m = m->younger_member_)
    if (may_be_stolen_from(*m, policy)) {
      m->survey(false);
      if (m->eligible() != 0)
        return m;
    }
  return nullptr;
}

void member::consider_theft() noexcept {
  auto& host = origin_->host;
  theft_view view;
  member* victim = nullptr;
  view.compute_executor_idle = host.compute_->any_idle();
  if (view.compute_executor_idle) { // the rest costs more to find out
    view.policy = host.victims();
    victim = most_basal();
    if (victim != nullptr) {
      view.eligible = victim->eligible();
      view.victim_is_suspended = victim->suspended_;
    }
    view.in_sequence = fiber_->sequential() != nullptr;
    view.stole_this_quantum = last_theft_ == quantum_;
    view.work_waits_here = executor_->work_waits_for_siblings();
    view.sibling_idle = executor_->pool().any_idle();
  }
  const auto verdict = decide_theft(view);
  if (verdict == theft_verdict::delegate_oldest)
    delegate_oldest(*victim, view);
  else if (verdict == theft_verdict::delegate_two)
    delegate_two(view);
  else
    count(verdict);
}

/// Each look ends with one call, before anybody else can see what came of it.
void member::count(theft_verdict verdict) noexcept {
  cells_->verdicts[verdict].add();
}

/// A delegation of a node that is still ready, or why there is none.
struct member::offer {
  std::unique_ptr<detail::delegation> made;
  theft_verdict why_not = theft_verdict::out_of_memory;
};

void member::delegate_oldest(member& from, const theft_view& view) noexcept {
  auto offered = enter_context() ? from.prepare(*from.oldest_ready_) : offer{};
  if (offered.made == nullptr) {
    count(offered.why_not);
    return;
  }
  auto target = origin_->claim_target(*executor_, offered.made->lineage_bytes);
  if (target.context == nullptr) {
    count(target.why_not);
    from.give_up(std::move(offered.made));
    return;
  }
  count(theft_verdict::delegate_oldest);
  last_theft_ = quantum_;
  auto& given = from.take(std::move(offered.made), *target.context, &view);
  origin_->host.delegate(given, *target.context->where);
}

/// Suspends this member until both delegates, and all that are taken from it
/// meanwhile, have merged. Everything happens once its stack is left, when
/// nothing can fail any more but the claim.
void member::delegate_two(const theft_view& view) noexcept {
  auto& first = *oldest_ready_;
  auto& second = *first.younger;
  auto to_other = enter_context() ? prepare(first).made : nullptr;
  auto to_self = to_other != nullptr ? prepare(second).made : nullptr;
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
    auto target = origin_->claim_target(*executor_, to_other->lineage_bytes);
    if (target.context == nullptr) {
      count(target.why_not);
      executors::executor::wake(f);
      return;
    }
    count(theft_verdict::delegate_two);
    stolen = suspended_ = true;
    cells_->merge_waits.add();
    last_theft_ = quantum_;
    latch_.expect(3); // the two, and this stack's being left
    latch_.waiter = &f;
    to_other->latch = to_self->latch = &latch_;
    auto& other = take(std::move(to_other), *target.context, &view);
    auto& own = take(std::move(to_self), *context_, &view);
    executor_->push_pinned(own.node);
    origin_->host.delegate(other, *target.context->where);
    if (latch_.arrive())
      executors::executor::wake(f);
  };
  if (!executor_->suspend(publish)) {
    count(theft_verdict::out_of_memory);
    return;
  }
  suspended_ = false;
  if (stolen)
    resume(suspended_at);
}

/// Most basal continuation of a victim that waits on this executor, taken for
/// this executor itself, whose delegate has ended or waits: else it would do
/// nothing for the posse. Null if there is none.
detail::delegation* member::take_seamlessly() noexcept {
  if (context_ == nullptr)
    return nullptr;
  for (auto* m = context_->oldest; m != nullptr; m = m->younger_member_) {
    if (!m->suspended_)
      continue;
    m->survey(false);
    if (m->eligible() == 0)
      continue;
    auto d = m->prepare(*m->oldest_ready_).made;
    if (d == nullptr)
      continue;
    if (!has_room_for(*d)) {
      m->give_up(std::move(d));
      continue;
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

/// Makes the delegation of this member's oldest ready node, or the next.
member::offer member::prepare(right_continuation& node) noexcept {
  auto d = node.make_delegation(*origin_);
  if (d == nullptr)
    return {nullptr, theft_verdict::out_of_memory};
  d->victim = as_;
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
  auto& node = *oldest_ready_;
  auto& result = *d;
  result.context = &to;
  to.expected.fetch_add(1, std::memory_order_relaxed);
  result.node.item = runtime::item_of(result);
  report(node, to, view);
  node.mark_taken(d.release());
  oldest_ready_ = node.younger;
  cells_->thefts.add();
  cells_->of(origin_->number).thefts.add();
  return result;
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
  event.age = quantum_ - node.stamp;
  auto count_ready = [&](const member& m, const right_continuation* n) {
    for (; n != nullptr; n = n->older())
      event.more_basal
        += n->current_state() == right_continuation::state::stamped && m.quantum_ - n->stamp >= 2;
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
