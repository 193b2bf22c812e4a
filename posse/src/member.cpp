#include <basal/posse/member.hpp>

#include <algorithm>

#include <basal/executors/executor.hpp>
#include <basal/executors/executor_pool.hpp>
#include <basal/posse/detail/collector.hpp>
#include <basal/posse/detail/computation.hpp>
#include <basal/posse/errors.hpp>
#include <basal/posse/runtime.hpp>

namespace basal::posse {

namespace {

/// A countdown's length stays within this: at 2.5 ns a fork, a look at the
/// clock every 10 us, so that its 20-40 ns do not show. Leaves that suddenly
/// take long are the backstop's business.
constexpr std::int32_t longest_countdown = 4096;

/// A countdown grows at most so fast: the first forks of a computation come in
/// quick succession on the way down to the first leaf, and say little about
/// the rate.
constexpr std::int32_t countdown_growth = 4;

/// Looks at the clock per quantum, about.
constexpr std::uint64_t looks_per_quantum = 8;

} // namespace

member::member(detail::computation& origin, executors::executor& self) noexcept
  : attention_(&self.attention()), executor_(&self), origin_(&origin) {
  detail::enter_collected_heap();
  // The countdown starts at 0: the first fork looks at the clock. Computations
  // without a fork never do.
}

void member::look_up() {
  if (executors::executor::current() != executor_)
    basal::detail::assertion_failed("a branch uses the member that it was called with, not one "
                                    "that it captured",
                                    __FILE__, __LINE__);
  auto& host = origin_->host;
  executor_->clear_attention();
  if (host.is_cancelled())
    throw cancelled{};
  auto now = executor_->now();
  executor_->look(now);
  if (quantum_start_ == 0) {
    start_quantum(now);
    countdown_ = countdown_length_;
    return;
  }
  auto length = next_countdown(now);
  auto ended = now - quantum_start_ >= host.quantum_ticks_;
  if (ended) {
    runtime::count(host.counters_.quanta);
    executor_->count_quantum_end();
    survey(true);
    ++quantum_;
  }
  consider_theft();
  if (ended) {
    if (executor_->work_waits()) {
      runtime::count(host.counters_.yields);
      executor_->yield();
      now = executor_->now();
    }
    quantum_start_ = now;
  }
  last_look_ = now;
  countdown_ = countdown_length_ = length;
  if (host.is_cancelled()) // during the yield
    throw cancelled{};
}

void member::start_quantum(std::uint64_t now) noexcept {
  quantum_start_ = now;
  last_look_ = now;
  // The forks from here on count for the rate.
  countdown_length_ = std::max(1, countdown_);
}

/// The next countdown's length: at the rate of the last one it runs out
/// `looks_per_quantum` times a quantum.
std::int32_t member::next_countdown(std::uint64_t now) const noexcept {
  auto wanted = origin_->host.quantum_ticks_ / looks_per_quantum;
  auto elapsed = std::max<std::uint64_t>(1, now - last_look_);
  auto forks = static_cast<std::uint64_t>(std::max(1, countdown_length_ - std::max(0, countdown_)));
  auto longest = std::min(longest_countdown, countdown_length_ * countdown_growth);
  return static_cast<std::int32_t>(
    std::clamp<std::uint64_t>(forks * wanted / elapsed, 1, static_cast<std::uint64_t>(longest)));
}

/// Walks from the youngest node to the first that is not fresh, links what it
/// meets to the next younger node and, at a quantum's end, stamps it. So each
/// node is stamped once, and the cost is bounded by the forks since the last
/// survey.
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
      node->mark_stamped(quantum_);
    above = node;
  }
  if (node == nullptr || node->is_taken())
    oldest_ready_ = above;
  else
    node->younger = above;
}

void member::consider_theft() noexcept {
  auto& host = origin_->host;
  theft_view view;
  view.compute_executor_idle = host.compute_->any_idle();
  if (view.compute_executor_idle) { // the rest costs more to find out
    survey(false);
    view.oldest_is_eligible
      = oldest_ready_ != nullptr
        && oldest_ready_->current_state() == right_continuation::state::stamped
        && quantum_ - oldest_ready_->stamp >= 2;
    view.stole_this_quantum = last_theft_ == quantum_;
    view.work_waits_here = executor_->work_waits_for_siblings();
    view.sibling_idle = executor_->pool().any_idle();
  }
  auto verdict = decide_theft(view);
  auto& c = host.counters_;
  switch (verdict) {
  case theft_verdict::nobody_idle:
    runtime::count(c.nobody_idle);
    return;
  case theft_verdict::actors_first:
    runtime::count(c.actors_first);
    return;
  case theft_verdict::once_a_quantum:
    runtime::count(c.once_a_quantum);
    return;
  case theft_verdict::too_young:
    runtime::count(c.too_young);
    return;
  case theft_verdict::delegate_oldest:
    break;
  }
  // Made before anybody is claimed: a claimed executor must get something.
  auto& node = *oldest_ready_;
  auto d = node.make_delegation(*origin_);
  auto* idle = d ? host.compute_->claim_idle() : nullptr;
  if (idle == nullptr) { // out of memory, or woken by somebody else meanwhile
    runtime::count(c.nobody_idle);
    return;
  }
  node.mark_taken(d.release());
  oldest_ready_ = node.younger;
  last_theft_ = quantum_;
  runtime::count(c.thefts);
  if (auto* record = origin_->function)
    runtime::count(record->thefts);
  host.delegate(*node.delegation, *idle);
}

void member::await_merge(right_continuation& node) {
  auto& merged = node.delegation->merged;
  if (merged.is_set())
    return;
  runtime::count(origin_->host.counters_.merge_waits);
  merged.wait();
  // A new turn on the executor is a new quantum.
  start_quantum(executor_->now());
}

void member::abandon(right_continuation& node) noexcept {
  youngest_ = node.older();
  if (!node.is_taken())
    return;
  // The delegate works on this frame: it must end before the frame does.
  await_merge(node);
  delete node.delegation;
}

} // namespace basal::posse
