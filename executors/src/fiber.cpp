#include <basal/executors/detail/fiber.hpp>

#include <cstring>
#include <new>

#include <boost/context/detail/fcontext.hpp>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/stack_scan.hpp>
#include <basal/executors/executor.hpp>

#include "sanitizer.hpp"

namespace basal::executors {

namespace fcontext = boost::context::detail;

/// Handed across a switch; lives on the stack of `from`, which stays as it is
/// until somebody resumes `from`, at the earliest in `after`.
struct fiber::switch_record {
  fiber* from;
  fiber* to;
  after_action after;
  void* argument;
};

/// The first function on a new fiber's stack.
struct fiber::entry_point {
  static void enter(fcontext::transfer_t transfer) {
    auto* record = static_cast<switch_record*>(transfer.data);
    auto& self = *record->to;
    arrive(transfer.fctx, record);
    self.home_->loop();
    // Out of work for good: back to the thread's own stack, never to return.
    switch_to(self, *self.home_->native_, nullptr, nullptr);
  }
};

fiber::fiber(executor& home) noexcept : home_(&home) {
  tsan_fiber_ = sanitizer::current_tsan_fiber();
}

fiber::fiber(executor& home, stack s) noexcept
  : home_(&home),
    stack_(s),
    asan_bottom_(s.floor),
    asan_size_(static_cast<std::size_t>(s.top() - s.floor)),
    tsan_fiber_(sanitizer::create_tsan_fiber()) {
  // The usable stack ends below this control block.
  context_ = fcontext::make_fcontext(
    this, static_cast<std::size_t>(reinterpret_cast<std::byte*>(this) - s.floor),
    &entry_point::enter);
}

fiber::~fiber() {
  if (stack_.base != nullptr)
    sanitizer::destroy_tsan_fiber(tsan_fiber_);
}

const char* fiber::name_work(const char* name) noexcept {
  BASAL_ASSERT(executor::current() == home_, "a fiber's work is named on its own thread");
  auto* before = std::exchange(work_name_, name);
  home_->doing_.store(label(), std::memory_order_relaxed);
  return before;
}

fiber& fiber::create(executor& home, stack_pool& stacks) {
  auto s = stacks.acquire();
  constexpr auto alignment = std::size_t{64};
  auto room = (sizeof(fiber) + alignment - 1) / alignment * alignment;
  auto& f = *new (s.top() - room) fiber{home, s};
  stack_scan::add(home, f);
  return f;
}

void fiber::destroy(fiber& f, stack_pool& stacks) noexcept {
  BASAL_ASSERT(&f != f.home_->running_, "a fiber that runs is not destroyed");
  BASAL_ASSERT(f.waits_for_ == nullptr, "a suspended fiber is resumed, never destroyed");
  stack_scan::remove(*f.home_, f);
  auto s = f.stack_;
  // Frames below where it was left have returned, and poison nothing any more.
  auto* lowest = static_cast<std::byte*>(f.context_);
  f.~fiber();
  sanitizer::forget_stack(lowest, static_cast<std::size_t>(s.top() - lowest));
  stacks.release(s);
}

void fiber::switch_to(fiber& from, fiber& to, after_action after, void* argument) noexcept {
  static_assert(sizeof(from.exceptions_) == 16);
  BASAL_ASSERT(from.home_ == to.home_, "a fiber runs on one thread for life");
  BASAL_ASSERT(&from != &to && from.home_->running_ == &from, "the running fiber is left");
  switch_record record{&from, &to, after, argument};
  stack_scan::begin_switch(*from.home_);
  void* exceptions = from.home_->exceptions_; // one look-up a thread, not two a switch
  std::memcpy(static_cast<void*>(&from.exceptions_), exceptions, 16);
  std::memcpy(exceptions, &to.exceptions_, 16);
  sanitizer::before_switch(&from.fake_stack_, to.asan_bottom_, to.asan_size_, to.tsan_fiber_);
  auto transfer = fcontext::jump_fcontext(to.context_, &record);
  arrive(transfer.fctx, static_cast<switch_record*>(transfer.data));
}

void fiber::arrive(void* context, switch_record* record) noexcept {
  auto& from = *record->from;
  auto& to = *record->to;
  auto after = record->after;
  auto* argument = record->argument;
  sanitizer::after_switch(to.fake_stack_, &from.asan_bottom_, &from.asan_size_);
  from.context_ = context;
  to.home_->running_ = &to;
  stack_scan::end_switch(*to.home_);
  if (after != nullptr)
    after(argument, from); // from here on, `from` and `record` may be gone
}

} // namespace basal::executors
