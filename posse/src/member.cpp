// A member's life, its looks at the clock and its merges. Thefts from it are in member_theft.cpp,
// its memory limits in member_memory.cpp. Computations of a microsecond begin, look and end here,
// so the compiler is to see that whole.

#include <basal/posse/member.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <utility>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/collector.hpp>
#include <basal/executors/detail/cpu_pause.hpp>
#include <basal/executors/executor.hpp>
#include <basal/posse/detail/cells.hpp>
#include <basal/posse/detail/charge_frame.hpp>
#include <basal/posse/detail/computation.hpp>
#include <basal/posse/detail/memory_context.hpp>
#include <basal/posse/detail/pace.hpp>
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
/// the rate. After a first step that passes most ways down, small ones: a look that
/// comes on the way down must not put off the next one for many leaves.
constexpr std::int32_t first_growth = 16;
constexpr std::int32_t countdown_growth = 4;

/// Looks at the clock per quantum, about.
constexpr std::uint64_t looks_per_quantum = 8;

/// The largest stack use of a function, from one safepoint to the next, at which the end of the
/// stack is still found as an error. A countdown is so short that frames of this size at each fork
/// end above the guard, whatever came before: a bound learned from the stack's growth so far fails
/// where small frames are followed by large ones. The stack's margin makes it long nevertheless:
/// 365 safepoints at least, where no memory limit is near.
constexpr std::ptrdiff_t largest_frame_bytes = 64 * 1024;

/// Bytes left below the last of these frames: for a leaf's frame, which is not checked, and for
/// throwing the error (the unwinder takes some 4 KiB).
constexpr std::ptrdiff_t stack_reserve_bytes = 2 * largest_frame_bytes;

/// A bound for the wait at a merge, in case that hand-overs are slow because threads have to wait
/// for a CPU.
constexpr auto longest_awake_wait = std::chrono::microseconds{10};

[[noreturn, gnu::cold]] void refuse_captured_member(const char* computation) {
  std::fprintf(stderr,
               "basal: broken contract: a branch uses the member that it was called with, but one "
               "of %s uses a member that it captured, which is another executor's: write "
               "m.fork_merge([&](basal::posse::member& k) { ... }, ...), and use k inside\n",
               computation);
  std::abort();
}

} // namespace

// -- from beginning to end ----------------------------------------------------

member::member(detail::computation& origin, executors::executor& self,
               detail::executor_cells& cells) noexcept
  : attention_(&self.attention()),
    executor_(&self),
    fiber_(&self.running()),
    origin_(&origin),
    cells_(&cells),
    least_offer_(origin.host.least_offer_),
    least_left_(origin.host.least_left_),
    stack_limit_(deepest()),
    depth_at_glance_(reinterpret_cast<const std::byte*>(this)) {
  enter();
  if (origin.has_memory_limit()) [[unlikely]] {
    origin.count_collected();
    enter_context();
  }
}

member::member(detail::delegation& self_as, executors::executor& self,
               detail::executor_cells& cells) noexcept
  : attention_(&self.attention()),
    executor_(&self),
    fiber_(&self.running()),
    origin_(&self_as.origin),
    cells_(&cells),
    least_offer_(self_as.origin.host.least_offer_),
    least_left_(self_as.origin.host.least_left_),
    stretch_(self_as.stretch),
    expected_(self_as.expected),
    expected_since_(self_as.begun_at),
    stack_limit_(deepest()),
    depth_at_glance_(reinterpret_cast<const std::byte*>(this)),
    as_(&self_as) {
  BASAL_ASSERT(self_as.context != nullptr && self_as.context->where == &self,
               "a delegation runs on the executor that it was sent to");
  enter();
  enter_context();
  if (self_as.origin.has_memory_limit()) [[unlikely]]
    context_->note_arrival();
}

/// The lowest address that a node of the running fiber may have; null on a thread's
/// own stack, which nobody checks.
const std::byte* member::deepest() const noexcept {
  return executor_->running().memory().base;
}

/// Marks the executor as one that answers when asked, and names the work.
void member::enter() noexcept {
  executors::enter_collected_heap();
  attentive_before_ = executor_->attentive().load(std::memory_order_relaxed);
  executor_->attentive().store(true, std::memory_order_relaxed);
  name_before_ = fiber_->name_work(origin_->name());
  auto* outer = detail::innermost_charge(*fiber_);
  charge_ = {outer, this, nullptr, outer != nullptr ? outer->account : nullptr};
  // A dump finds the member by this pointer, in a signal handler on this thread.
  std::atomic_signal_fence(std::memory_order_release);
  fiber_->attachment() = &charge_;
}

void member::leave() noexcept {
  BASAL_ASSERT(executors::executor::current() == executor_ && &executor_->running() == fiber_,
               "a member ends on the fiber where it began");
  BASAL_ASSERT(youngest_ == nullptr, "a member's forks have merged when it ends");
  BASAL_ASSERT(fiber_->attachment() == &charge_,
               "a charge_scope that was opened in a computation ends before it");
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
    note_past();
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

/// Begins a countdown of that many safepoints, or fewer: if they could run into the
/// guard, or, as far as can be told from what the stack grew by so far, beyond what it
/// may use. That bound is sharp under a memory limit and costs nothing without.
[[gnu::always_inline]] inline void member::count_down(std::int32_t safepoints) noexcept {
  auto* here = static_cast<const std::byte*>(__builtin_frame_address(0));
  auto* floor = fiber_->memory().floor; // a thread's own stack has none, and ends far from 0
  auto of_learned = static_cast<std::uint64_t>(std::max<std::ptrdiff_t>(0, here - stack_limit_))
                    / bytes_per_safepoint_;
  auto of_largest = static_cast<std::uint64_t>(
    std::max<std::ptrdiff_t>(0, here - floor - stack_reserve_bytes) / largest_frame_bytes);
  auto length = std::max(1, static_cast<std::int32_t>(std::min(
                              {of_learned, of_largest, static_cast<std::uint64_t>(safepoints)})));
  countdown_ = countdown_start_ = length - 1; // the last one finds 0 and makes it negative
  look_left_ = safepoints - length;
}

void member::look_up() {
  if (executors::executor::current() != executor_)
    refuse_captured_member(origin_->name());
  if (glance() && attention_->load(std::memory_order_relaxed) == 0)
    return;
  auto& host = origin_->host;
  executor_->clear_attention();
  executor_->note_cpu();
  auto now = executor_->now();
  executor_->look(now);
  auto first = last_look_ == 0;
  look_after_ = host.quantum_ticks_ / looks_per_quantum;
  look_length_ = next_look(now);
  look_left_ = 0; // until it is known that no error comes up
  if (first)
    recall_past(now);
  stretch_ = stretch(now);
  settle(now);
  safepoints_at_look_ = safepoints_;
  if (first) {
    quantum_start_ = now;
    survey(now, true); // what is here already waits from the first quantum's beginning on
  }
  auto ended = now - quantum_start_ >= host.quantum_ticks_;
  if (ended)
    end_quantum(now);
  check_cancelled(ended);
  if (context_ != nullptr && !limit_memory())
    throw_too_deep();
  if (!first || stretch_ != 0 || expected_ != 0)
    look_within(consider_theft(now));
  if (ended) {
    if (executor_->work_waits()) {
      cells_->yields.add();
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

/// Checks the stack's depth. A check at each fork would cost a tenth of it; so a
/// countdown is no longer than the stack has room for.
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
  auto elapsed = std::max<std::uint64_t>(1, now - last_look_);
  auto passed = std::max<std::uint64_t>(1, safepoints_ - safepoints_at_look_);
  const auto growth = look_length_ == 1 ? first_growth : countdown_growth;
  auto longest = std::min(longest_countdown, look_length_ * growth);
  return static_cast<std::int32_t>(std::clamp<std::uint64_t>(passed * look_after_ / elapsed, 1,
                                                             static_cast<std::uint64_t>(longest)));
}

/// The next look comes in so many ticks, unless it comes before.
void member::look_within(std::uint64_t ticks) noexcept {
  if (ticks >= look_after_)
    return;
  const auto fewer = static_cast<std::uint64_t>(look_length_) * ticks / look_after_;
  look_length_ = std::max(1, static_cast<std::int32_t>(fewer));
  look_after_ = ticks;
}

/// Ticks from one safepoint to the next, on average since the last look.
std::uint64_t member::stretch(std::uint64_t now) const noexcept {
  if (last_look_ == 0)
    return stretch_; // its victim's
  return (now - last_look_) / std::max<std::uint64_t>(1, safepoints_ - safepoints_at_look_);
}

/// As a computation begins, at its first fork: nothing is known of its branches but what they took
/// the last time. Two that do not fork have no other safepoint than this one.
void member::recall_past(std::uint64_t now) noexcept {
  if (as_ != nullptr || youngest_ == nullptr)
    return;
  known_ = youngest_->known();
  if (known_ == nullptr)
    return;
  origin_->recall_vain_thefts(known_->vain.load(std::memory_order_relaxed));
  if (const auto usual = known_->stretch.load(std::memory_order_relaxed); usual >= least_offer_)
    stretch_ = usual;
  if (const auto usual = known_->work.load(std::memory_order_relaxed); usual >= 2 * least_offer_) {
    expected_ = usual;
    expected_since_ = now;
  }
}

void member::note_past() noexcept {
  if (known_ == nullptr)
    return;
  // Written when it has changed by much only, since many threads read it.
  const auto differ = [](std::uint64_t seen, std::uint64_t usual) {
    return seen < usual - usual / 4 || seen > usual + usual / 4;
  };
  const auto stretch = busy_ticks_ / std::max<std::uint64_t>(1, safepoints_);
  if (differ(stretch, known_->stretch.load(std::memory_order_relaxed)))
    known_->stretch.store(stretch, std::memory_order_relaxed);
  // A quarter less, so that it is found out again at times.
  const auto vain = origin_->vain_thefts();
  const auto kept = vain - (vain + 3) / 4;
  if (kept != known_->vain.load(std::memory_order_relaxed))
    known_->vain.store(kept, std::memory_order_relaxed);
  // Less at once and more by halves: where little and much work alternate, it counts as little, and
  // the forks of much have to wait, as where nothing is known.
  const auto work = busy_ticks_ + origin_->delegated_ticks();
  const auto usual = known_->work.load(std::memory_order_relaxed);
  if (differ(work, usual))
    known_->work.store(usual == 0 || work < usual ? work : usual + (work - usual) / 2,
                       std::memory_order_relaxed);
}

/// Ticks of what it was expected to take. A half of it is that of the most basal fork, or less.
std::uint64_t member::expected_left(std::uint64_t now) const noexcept {
  const auto since = now - expected_since_;
  return expected_ > since ? expected_ - since : 0;
}

void member::end_quantum(std::uint64_t now) noexcept {
  cells_->quanta.add();
  executor_->count_quantum_end();
  ++quantum_;
  survey(now, true);
  if (context_ == nullptr)
    return;
  // Of victims that wait meanwhile, continuations age as well.
  for (auto* m = context_->oldest; m != nullptr; m = m->younger_member_)
    if (m->suspended_) {
      ++m->quantum_;
      m->survey(now, true);
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

/// Walks from the youngest node to the first that is not fresh, links what it
/// meets to the next younger node and stamps it: by hysteresis::worth with the time,
/// in units of 256 ticks; by hysteresis::quantum, and only between two quanta, with
/// the number of the one that has ended: 0 before a member's first. So each node is
/// stamped once, and the cost is bounded by the forks since the last survey.
///
/// Taken nodes are the oldest ones, because the most basal is always taken
/// first. If the walk reaches one of them, or the end, then no node older than
/// the last one it met is ready, which makes that one the oldest. Else it has
/// met a stamped node, and since nodes leave the list youngest first, none
/// older than that one has left since it was stamped: `oldest_ready_` holds.
void member::survey(std::uint64_t now, bool quantum_ends) noexcept {
  const auto by_time = origin_->host.config().steal_by == hysteresis::worth;
  const auto stamp = by_time ? static_cast<std::uint32_t>(now >> stamp_shift) : quantum_ - 1;
  right_continuation* above = nullptr;
  auto* node = youngest_;
  for (; node != nullptr && node->current_state() == right_continuation::state::fresh;
       node = node->older()) {
    node->younger = above;
    if (by_time || quantum_ends)
      node->mark_stamped(stamp);
    above = node;
  }
  if (node == nullptr || node->is_taken())
    oldest_ready_ = above;
  else
    node->younger = above;
}

// -- merges -------------------------------------------------------------------

void member::await_merge(right_continuation& node) {
  BASAL_ASSERT(node.is_taken(), "a merge waits for a continuation that was taken");
  auto& delegated = *node.delegation;
  auto& merged = delegated.merged;
  if (!merged.is_set() && take_back(delegated)) {
    cells_->hand_over.note_wait(delegated.sent_at, executor_->now(), origin_->host.awake_ticks_);
    try {
      delegated.execute(*this);
    } catch (...) {
      delegated.error = std::current_exception();
    }
    return;
  }
  if (merges_while_awake(delegated)) {
    note_merge(delegated);
    origin_->note_theft(false);
    cells_->forgone.paid();
    return;
  }
  // The executor goes on with that, if there is any, before it looks elsewhere.
  auto suspended_at = executor_->now();
  const bool was_worth_it = has_gained(delegated, suspended_at, 0);
  if (!was_worth_it)
    origin_->note_theft(true); // at once: before it has merged, its delegate may lose more of them
  if (auto* d = take_seamlessly(suspended_at))
    executor_->push_pinned(d->sent->node);
  settle(suspended_at);
  cells_->merge_waits.add();
  awaited_ = &delegated;
  merged.wait();
  awaited_ = nullptr;
  resume(suspended_at);
  note_merge(delegated);
  if (was_worth_it) {
    const auto ended = std::min(delegated.ended_at, last_look_);
    origin_->note_theft(!has_gained(delegated, suspended_at, last_look_ - ended));
  }
  if (last_look_ - suspended_at < origin_->host.asleep_ticks_)
    cells_->forgone.paid();
  executor_->record(executors::record_kind::merges, last_look_, node.delegation);
}

/// Waits awake for no longer than it takes to suspend this member and to be woken.
/// @returns whether `d` has merged
bool member::merges_while_awake(const detail::delegation& d) const noexcept {
  if (d.merged.is_set())
    return true;
  // Not the executor's clock, which need not go on in a test.
  const auto begun = executors::tick_clock::now();
  const auto patience = std::min(cells_->hand_over.worth_waiting(),
                                 executors::tick_clock::to_ticks(longest_awake_wait));
  while (executors::tick_clock::now() - begun < patience) {
    executors::cpu_pause();
    if (d.merged.is_set())
      return true;
  }
  return false;
}

void member::note_merge(const detail::delegation& d) noexcept {
  executor_->note_merge();
  origin_->note_delegated(d.ended_at - d.begun_at);
  cells_->hand_over.note(d.sent_at, d.begun_at, origin_->host.awake_ticks_);
}

/// Whether a theft has gained more than it cost: what both did at the same time, until the member
/// waited. @param late ticks from the delegate's end to the member's going on
bool member::has_gained(const detail::delegation& d, std::uint64_t waits_since,
                        std::uint64_t late) const noexcept {
  if (d.taken_at == 0 || origin_->host.config().steal_by != hysteresis::worth)
    return true;
  const auto cost
    = d.sent_at != 0 ? cost_awake(cells_->hand_over.hoped()) : origin_->host.asleep_ticks_;
  return waits_since - d.taken_at >= cost + late;
}

void member::note_ends(std::uint64_t own, const detail::delegation& d) noexcept {
  if (d.sent_at != 0 && d.ended_at != 0)
    cells_->hand_over.note_ends(own, d.ended_at);
}

std::size_t member::most_executors() const noexcept {
  return std::min(origin_->cabal_limit(), origin_->host.compute().size());
}

bool member::has_others() const noexcept {
  const auto& compute = origin_->host.compute();
  return compute.size() > 1 || &executor_->pool() != &compute;
}

bool member::has_idle_others() const noexcept {
  return origin_->anybody_idle(*executor_);
}

/// Twice what a hand-over takes, since both members can go on with a half.
std::uint64_t member::least_taken() const noexcept {
  if (origin_->host.config().steal_by == hysteresis::quantum)
    return 0;
  return std::clamp(2 * cells_->hand_over.mean(), pace::target / 4, 2 * pace::target);
}

std::uint64_t member::num_thefts() const noexcept {
  return cells_->thefts.get();
}

void member::abandon() noexcept {
  BASAL_ASSERT(youngest_ != nullptr, "the fork that is left is the youngest");
  auto& node = *youngest_;
  youngest_ = node.older();
  if (!node.is_taken())
    return;
  // The delegate works on this frame: it must end before the frame does.
  std::unique_ptr<detail::delegation> dropped{node.delegation};
  if (!dropped->merged.is_set() && take_back(*dropped))
    return;
  dropped->abandoned.store(true, std::memory_order_relaxed);
  dropped->context->where->raise_attention();
  await_merge(node);
}

} // namespace basal::posse
