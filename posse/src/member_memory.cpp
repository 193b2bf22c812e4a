// Memory limits of a member: the heap and the stack of its computation on this executor.

#include <basal/posse/member.hpp>

#include <algorithm>
#include <cstddef>
#include <memory_resource>
#include <new>
#include <string>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/executor.hpp>
#include <basal/posse/detail/charge_frame.hpp>
#include <basal/posse/detail/computation.hpp>
#include <basal/posse/detail/delegation.hpp>
#include <basal/posse/detail/memory_charge.hpp>
#include <basal/posse/detail/memory_context.hpp>
#include <basal/posse/errors.hpp>

namespace basal::posse {

std::pmr::memory_resource& member::memory() {
  BASAL_ASSERT(executors::executor::current() == executor_,
               "a branch uses the member that it was called with, not one that it captured");
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
  BASAL_ASSERT(context_ != nullptr, "memory is given back once");
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

/// Bytes that the computation held, on the way from its root to this fork, when the fork was made:
/// as many as it would hold in sequence when the right branch begins.
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
  origin_->note_use(context_->most_bytes());
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
  if (!origin_->has_memory_limit())
    return;
  auto may_run = [&] {
    return context_->youngest == this && context_->expected.load(std::memory_order_relaxed) == 0;
  };
  BASAL_ASSERT(parked_ == nullptr, "a member that runs is not parked");
  // Without a stack to go on with it takes its chance with the limit instead.
  while (!may_run()
         && executor_->suspend([this](executors::fiber& f) noexcept { parked_ = &f; },
                               "younger members of its computation, under a memory limit")) {
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

detail::computation& detail::origin_of(const member& m) noexcept {
  return *m.origin_;
}

void detail::open_charge(charge_frame& f, charge_frame* outer, void* account) noexcept {
  const auto* running = outer != nullptr ? outer->running : nullptr;
  f = {outer, running, running != nullptr ? running->youngest_ : nullptr, account};
}

} // namespace basal::posse
