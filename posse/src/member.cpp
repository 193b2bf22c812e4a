// Looks, thefts, merges and memory in one file: they are the slow paths of one class, share its
// state, and the compiler is to see them whole.

#include <basal/posse/member.hpp>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include <basal/executors/executor.hpp>
#include <basal/executors/executor_pool.hpp>
#include <basal/posse/detail/cells.hpp>
#include <basal/posse/detail/collector.hpp>
#include <basal/posse/detail/computation.hpp>
#include <basal/posse/detail/inherited_charge.hpp>
#include <basal/posse/detail/memory_context.hpp>
#include <basal/posse/errors.hpp>
#include <basal/posse/runtime.hpp>

namespace basal::posse {

namespace {

/// Safepoints between two looks at the clock, at most: at 2.5 ns a fork, one
/// every 10 us, so that its 20-40 ns do not show. Leaves that suddenly
/// take long are the backstop's business.
constexpr std::int32_t longest_countdown = 4096;

/// Their number grows at most so fast: the first forks of a computation come in
/// quick succession on the way down to the first leaf, and say little about
/// the rate.
constexpr std::int32_t countdown_growth = 8;

/// Looks at the clock per quantum, about.
constexpr std::uint64_t looks_per_quantum = 8;

/// What a fork leaves of the stack: for the leaf below it, which is not
/// checked, and for throwing the error (the unwinder takes some 4 KiB).
constexpr std::size_t stack_reserve_bytes = 16 * 1024;

} // namespace

// -- from beginning to end ----------------------------------------------------

member::member(detail::computation& origin, executors::executor& self,
               detail::executor_cells& cells) noexcept
  : attention_(&self.attention()),
    executor_(&self),
    fiber_(&self.running()),
    origin_(&origin),
    cells_(&cells),
    stack_limit_(deepest()),
    depth_at_glance_(reinterpret_cast<const std::byte*>(this)) {
  enter();
  if (origin.memory_limit() != detail::memory_context::unlimited) [[unlikely]]
    enter_context();
}

member::member(detail::delegation& self_as, executors::executor& self,
               detail::executor_cells& cells) noexcept
  : attention_(&self.attention()),
    executor_(&self),
    fiber_(&self.running()),
    origin_(&self_as.origin),
    cells_(&cells),
    stack_limit_(deepest()),
    depth_at_glance_(reinterpret_cast<const std::byte*>(this)),
    as_(&self_as) {
  enter();
  enter_context();
  context_->expected.fetch_sub(1, std::memory_order_relaxed);
}

/// Marks the executor as one that answers when asked, and names the work.
void member::enter() noexcept {
  detail::enter_collected_heap();
  attentive_before_ = executor_->attentive().load(std::memory_order_relaxed);
  executor_->attentive().store(true, std::memory_order_relaxed);
  name_before_ = fiber_->name_work(origin_->name());
  auto* outer = detail::innermost_charge(*fiber_);
  charge_ = {outer, this, nullptr, outer != nullptr ? outer->account : nullptr};
  fiber_->attachment() = &charge_;
}

void member::leave() noexcept {
  executor_->attentive().store(attentive_before_, std::memory_order_relaxed);
  fiber_->name_work(name_before_);
  fiber_->attachment() = charge_.outer;
}

void member::finish() noexcept {
  if (last_look_ != 0) {
    settle(executor_->now());
    auto forks = safepoints_ - std::min(safepoints_, polls_);
    auto& of_function = cells_->of(origin_->number);
    cells_->forks.add(forks);
    of_function.forks.add(forks);
    of_function.busy_ticks.add(busy_ticks_);
    of_function.quanta.add(quantum_ - 1);
  }
  if (context_ == nullptr)
    return;
  context_->add_stack(0 - counted_stack_);
  context_->running = nullptr;
  (older_member_ != nullptr ? older_member_->younger_member_ : context_->oldest) = younger_member_;
  (younger_member_ != nullptr ? younger_member_->older_member_ : context_->youngest)
    = older_member_;
  if (auto* next = context_->youngest; next != nullptr && next->parked_ != nullptr)
    executors::executor::wake(*std::exchange(next->parked_, nullptr));
}

// -- a quantum's end ----------------------------------------------------------

void member::look_up() {
  if (executors::executor::current() != executor_)
    basal::detail::assertion_failed("a branch uses the member that it was called with, not one "
                                    "that it captured",
                                    __FILE__, __LINE__);
  if (glance() && attention_->load(std::memory_order_relaxed) == 0)
    return;
  auto& host = origin_->host;
  executor_->clear_attention();
  auto now = executor_->now();
  executor_->look(now);
  auto first = last_look_ == 0;
  look_length_ = next_look(now);
  look_left_ = 0; // until it is known that no error comes up
  settle(now);
  safepoints_at_look_ = safepoints_;
  if (first) {
    quantum_start_ = now;
    survey(true); // what is here already waits from the first quantum's beginning on
  }
  auto ended = now - quantum_start_ >= host.quantum_ticks_;
  if (ended)
    end_quantum();
  check_cancelled(ended);
  if (context_ != nullptr && !limit_memory())
    throw_too_deep();
  if (!first)
    consider_theft();
  if (ended) {
    if (executor_->work_waits()) {
      cells_->yields.add();
      detail::settle_account();
      executor_->yield();
      now = executor_->now();
      if (context_ != nullptr && !limit_memory())
        throw_too_deep();
    }
    quantum_start_ = last_look_ = now;
    check_cancelled(false); // what came during the yield
  }
  count_down(look_length_);
}

/// Checks the stack's depth. A check at each fork would cost a tenth of it; so
/// a countdown is no longer than the stack has room for, as far as that can be
/// told from what it has grown by so far.
/// @returns whether the time for a look at the clock has not come yet
bool member::glance() {
  auto* here = static_cast<const std::byte*>(__builtin_frame_address(0));
  auto passed = static_cast<std::size_t>(std::max(1, countdown_start_ - countdown_));
  safepoints_ += static_cast<std::uint64_t>(countdown_start_ - countdown_);
  countdown_start_ = countdown_;
  if (here < stack_limit_)
    throw_too_deep();
  if (here < depth_at_glance_)
    bytes_per_safepoint_ = std::max(bytes_per_safepoint_,
                                    2 * static_cast<std::size_t>(depth_at_glance_ - here) / passed);
  depth_at_glance_ = here;
  if (look_left_ <= 0)
    return false;
  count_down(look_left_);
  return true;
}

/// Begins a countdown of that many safepoints, or fewer if they could use up
/// the stack.
void member::count_down(std::int32_t safepoints) noexcept {
  auto* here = static_cast<const std::byte*>(__builtin_frame_address(0));
  auto room = here > stack_limit_ ? static_cast<std::size_t>(here - stack_limit_) : 0;
  auto harmless = std::min<std::size_t>(room / bytes_per_safepoint_, longest_countdown);
  countdown_ = countdown_start_ = std::min(safepoints, static_cast<std::int32_t>(harmless));
  look_left_ = safepoints - countdown_;
}

/// Takes the safepoints and the time since the last look into account.
void member::settle(std::uint64_t now) noexcept {
  safepoints_ += static_cast<std::uint64_t>(countdown_start_ - countdown_);
  countdown_start_ = countdown_;
  if (last_look_ != 0)
    busy_ticks_ += now - last_look_;
  last_look_ = now;
  cells_->deepest_stack.raise_to(
    static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(this)
                               - static_cast<const std::byte*>(__builtin_frame_address(0))));
}

/// Safepoints until the next look at the clock: at the rate since the last one
/// it comes `looks_per_quantum` times a quantum.
std::int32_t member::next_look(std::uint64_t now) const noexcept {
  if (last_look_ == 0)
    return 1;
  auto wanted = origin_->host.quantum_ticks_ / looks_per_quantum;
  auto elapsed = std::max<std::uint64_t>(1, now - last_look_);
  auto passed = std::max<std::uint64_t>(1, safepoints_ - safepoints_at_look_);
  auto longest = std::min(longest_countdown, look_length_ * countdown_growth);
  return static_cast<std::int32_t>(
    std::clamp<std::uint64_t>(passed * wanted / elapsed, 1, static_cast<std::uint64_t>(longest)));
}

void member::end_quantum() noexcept {
  cells_->quanta.add();
  executor_->count_quantum_end();
  ++quantum_;
  survey(true);
  if (context_ == nullptr)
    return;
  // Of victims that wait meanwhile, continuations age as well.
  for (auto* m = context_->oldest; m != nullptr; m = m->younger_member_)
    if (m->suspended_) {
      ++m->quantum_;
      m->survey(true);
    }
}

/// A new turn on the executor is a new quantum.
void member::resume(std::uint64_t suspended_at) noexcept {
  if (context_ != nullptr)
    wait_until_youngest();
  auto now = executor_->now();
  cells_->suspended_ticks.add(now - suspended_at);
  cells_->merge_waits_ended.add();
  quantum_start_ = last_look_ = now;
  if (context_ != nullptr)
    limit_memory();
}

/// For a delegate that goes on in the quantum of the one before it; 0: none.
void member::continue_quantum(std::uint64_t start) noexcept {
  if (start == 0)
    return;
  last_look_ = executor_->now();
  quantum_start_ = start;
}

void member::check_cancelled(bool quantum_ended) {
  auto why = as_ != nullptr && as_->not_needed() ? cancel_reason::not_needed
                                                 : origin_->why_cancelled(quantum_ended);
  if (why != cancel_reason::none)
    throw cancelled{why};
}

// -- thefts -------------------------------------------------------------------

/// Walks from the youngest node to the first that is not fresh, links what it
/// meets to the next younger node and, between two quanta, stamps it with the
/// number of the one that has ended: 0 before a member's first. So each node is
/// stamped once, and the cost is bounded by the forks since the last survey.
///
/// Taken nodes are the oldest ones, because the most basal is always taken
/// first. If the walk reaches one of them, or the end, then no node older than
/// the last one it met is ready, which makes that one the oldest. Else it has
/// met a stamped node, and since nodes leave the list youngest first, none
/// older than that one has left since it was stamped: `oldest_ready_` holds.
void member::survey(bool stamp) noexcept {
  right_continuation* above = nullptr;
  auto* node = youngest_;
  for (; node != nullptr && node->current_state() == right_continuation::state::fresh;
       node = node->older()) {
    node->younger = above;
    if (stamp)
      node->mark_stamped(quantum_ - 1);
    above = node;
  }
  if (node == nullptr || node->is_taken())
    oldest_ready_ = above;
  else
    node->younger = above;
}

/// After a survey: ready nodes that have survived a full quantum, up to 2.
std::uint32_t member::eligible() const noexcept {
  std::uint32_t count = 0;
  for (auto* node = oldest_ready_;
       node != nullptr && count < 2 && node->current_state() == right_continuation::state::stamped
       && quantum_ - node->stamp >= 2;
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
  cells_->theft_looks.add();
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
    view.stole_this_quantum = last_theft_ == quantum_;
    view.work_waits_here = executor_->work_waits_for_siblings();
    view.sibling_idle = executor_->pool().any_idle();
  }
  switch (decide_theft(view)) {
  case theft_verdict::nobody_idle:
    cells_->nobody_idle.add();
    break;
  case theft_verdict::actors_first:
    cells_->actors_first.add();
    break;
  case theft_verdict::once_a_quantum:
    cells_->once_a_quantum.add();
    break;
  case theft_verdict::too_young:
    cells_->too_young.add();
    break;
  case theft_verdict::single:
    cells_->single.add();
    break;
  case theft_verdict::delegate_oldest:
    delegate_oldest(*victim, view);
    break;
  case theft_verdict::delegate_two:
    delegate_two(view);
    break;
  }
}

void member::delegate_oldest(member& from, const theft_view& view) noexcept {
  auto d = enter_context() ? from.prepare(*from.oldest_ready_) : nullptr;
  if (d == nullptr) { // out of memory, or about to go on
    cells_->nobody_idle.add();
    return;
  }
  auto target = origin_->claim_target(*executor_, d->lineage_bytes);
  if (target.context == nullptr) {
    (target.cabal_full ? cells_->cabal_full : cells_->nobody_idle).add();
    from.give_up(std::move(d));
    return;
  }
  last_theft_ = quantum_;
  auto& given = from.take(std::move(d), *target.context, &view);
  origin_->host.delegate(given, *target.context->where);
}

/// Suspends this member until both delegates, and all that are taken from it
/// meanwhile, have merged. Everything happens once its stack is left, when
/// nothing can fail any more but the claim.
void member::delegate_two(const theft_view& view) noexcept {
  auto& first = *oldest_ready_;
  auto& second = *first.younger;
  auto to_other = enter_context() ? prepare(first) : nullptr;
  auto to_self = to_other != nullptr ? prepare(second) : nullptr;
  if (to_self == nullptr || !has_room_for(*to_self)) {
    cells_->nobody_idle.add();
    return;
  }
  detail::settle_account();
  auto suspended_at = executor_->now();
  auto stolen = false;
  auto publish = [&](executors::fiber& f) noexcept {
    auto target = origin_->claim_target(*executor_, to_other->lineage_bytes);
    if (target.context == nullptr) {
      (target.cabal_full ? cells_->cabal_full : cells_->nobody_idle).add();
      executors::executor::wake(f);
      return;
    }
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
    cells_->nobody_idle.add();
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
    auto d = m->prepare(*m->oldest_ready_);
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
/// @returns null when there is no memory, or this member is about to go on
std::unique_ptr<detail::delegation> member::prepare(right_continuation& node) noexcept {
  auto d = node.make_delegation(*origin_);
  if (d == nullptr)
    return nullptr;
  d->victim = as_;
  d->lineage_bytes = lineage_bytes_at(node);
  d->account = account_at(node);
  if (suspended_) {
    if (!latch_.try_add())
      return nullptr;
    d->latch = &latch_;
  }
  return d;
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

// -- merges -------------------------------------------------------------------

void member::await_merge(right_continuation& node) {
  auto& merged = node.delegation->merged;
  if (merged.is_set())
    return;
  // The executor goes on with that, if there is any, before it looks elsewhere.
  if (auto* d = take_seamlessly())
    executor_->push_pinned(d->node);
  auto suspended_at = executor_->now();
  settle(suspended_at);
  detail::settle_account();
  cells_->merge_waits.add();
  merged.wait();
  resume(suspended_at);
}

void member::abandon() noexcept {
  auto& node = *youngest_;
  youngest_ = node.older();
  if (!node.is_taken())
    return;
  // The delegate works on this frame: it must end before the frame does.
  std::unique_ptr<detail::delegation> dropped{node.delegation};
  dropped->abandoned.store(true, std::memory_order_relaxed);
  dropped->context->where->raise_attention();
  await_merge(node);
}

// -- memory -------------------------------------------------------------------

std::pmr::memory_resource& member::memory() {
  if (!enter_context())
    throw std::bad_alloc{};
  if (context_->running != this)
    limit_memory();
  return *context_;
}

memory_charge member::charge(std::size_t bytes) {
  auto& context = static_cast<detail::memory_context&>(memory());
  context.charge(bytes);
  return {context, bytes};
}

void memory_charge::give_back() noexcept {
  context_->refund(bytes_);
}

/// @returns false when there is no memory for it
bool member::enter_context() noexcept {
  if (context_ != nullptr)
    return true;
  context_ = as_ != nullptr ? as_->context : origin_->join(*executor_);
  if (context_ == nullptr)
    return false;
  older_member_ = context_->youngest;
  (older_member_ != nullptr ? older_member_->younger_member_ : context_->oldest) = this;
  context_->youngest = this;
  heap_at_start_ = context_->heap_bytes();
  limit_memory();
  return true;
}

/// Called before the context's heap grows: what the nodes that are not weighed
/// yet have seen of it is what it holds now. Each node is weighed once.
void member::note_allocation() noexcept {
  auto heap = context_->heap_bytes();
  for (auto* node = youngest_; node != nullptr && !node->is_weighed() && !node->is_taken();
       node = node->older())
    node->weigh(heap);
}

/// What the computation held, on the way from its root to this fork, when it
/// was made: what it would hold in sequence when the right branch begins.
std::size_t member::lineage_bytes_at(const right_continuation& node) const noexcept {
  auto stack = static_cast<std::size_t>(reinterpret_cast<const std::byte*>(this)
                                        - reinterpret_cast<const std::byte*>(&node));
  auto heap = node.is_weighed() ? node.heap_before : context_->heap_bytes();
  return (as_ != nullptr ? as_->lineage_bytes : 0) + stack + heap - std::min(heap, heap_at_start_);
}

/// The account that was in force at this member's fork: that of the innermost
/// scope which was open by then. Nodes that are older than what is stolen have
/// been taken before, so there are few.
void* member::account_at(const right_continuation& node) const noexcept {
  auto is_before = [&](const right_continuation* youngest) {
    auto* older = node.older();
    while (older != nullptr && older != youngest)
      older = older->older();
    return older == youngest;
  };
  auto* f = detail::innermost_charge(*fiber_);
  while (f != &charge_ && !(f->running == this && is_before(f->youngest)))
    f = f->outer;
  return f->account;
}

/// The lowest address that a node of the running fiber may have.
const std::byte* member::deepest() const noexcept {
  auto* base = executor_->running().memory().base;
  return base != nullptr ? base + stack_reserve_bytes : nullptr;
}

/// Counts this member's stack, and shares out what is left of the limit: to the
/// context's heap, and to this stack. Two bounds hold: all members here
/// together, and this one with its lineage, stay within the limit.
/// @returns whether they do
bool member::limit_memory() noexcept {
  context_->running = this;
  auto* here = static_cast<const std::byte*>(__builtin_frame_address(0));
  auto stack = static_cast<std::size_t>(reinterpret_cast<const std::byte*>(this) - here);
  context_->add_stack(stack - counted_stack_);
  counted_stack_ = stack;
  auto limit = origin_->memory_limit();
  if (limit == detail::memory_context::unlimited)
    return true;
  auto heap = context_->heap_bytes();
  auto others = context_->bytes() - heap;
  auto lineage = (as_ != nullptr ? as_->lineage_bytes : 0) + stack;
  auto minus = [](std::size_t a, std::size_t b) { return a > b ? a - b : 0; };
  auto heap_limit = std::min(minus(limit + heap_at_start_, lineage), minus(limit, others));
  context_->limit_heap(heap_limit);
  auto room = minus(heap_limit, heap);
  auto* lowest = deepest();
  stack_limit_ = static_cast<std::size_t>(here - lowest) > room ? here - room : lowest;
  return heap <= heap_limit && heap_limit != 0;
}

/// Under a memory limit only the youngest member of a context runs: each began
/// with what the older ones had left, so those must not grow meanwhile; nor
/// while one is on its way here, which was sent because of what was left then.
/// Nobody waits for ever, because a member waits only for those that were taken
/// after it began, be it here or at a merge. The last of them to end wakes it.
void member::wait_until_youngest() noexcept {
  if (origin_->memory_limit() == detail::memory_context::unlimited)
    return;
  auto may_run = [&] {
    return context_->youngest == this && context_->expected.load(std::memory_order_relaxed) == 0;
  };
  detail::settle_account();
  // Without a stack to go on with it takes its chance with the limit instead.
  while (!may_run() && executor_->suspend([this](executors::fiber& f) noexcept { parked_ = &f; })) {
  }
}

void member::throw_too_deep() {
  settle(executor_->now());
  const auto& stack = executor_->running().memory();
  if (static_cast<const std::byte*>(__builtin_frame_address(0)) >= deepest())
    origin_->throw_over_limit("its next fork");
  throw memory_limit_exceeded("basal: " + std::string{origin_->name()}
                              + " recursed too deeply for its stack of "
                              + std::to_string(stack.bytes)
                              + " bytes; let it recurse less deeply, or give fibers larger "
                                "stacks: stack_bytes in the configuration, --basal.stack-bytes "
                                "for an actor system");
}

void detail::open_charge(charge_frame& f, charge_frame* outer, void* account) noexcept {
  const auto* running = outer != nullptr ? outer->running : nullptr;
  f = {outer, running, running != nullptr ? running->youngest_ : nullptr, account};
}

} // namespace basal::posse
