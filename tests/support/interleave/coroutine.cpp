#include "support/interleave/coroutine.hpp"

#include <boost/context/detail/fcontext.hpp>

#include "sanitizer.hpp"

namespace basal::interleave {

namespace fcontext = boost::context::detail;
namespace sanitizer = executors::sanitizer;

namespace {

struct jump {
  coroutine* from;
  coroutine* to;
};

} // namespace

struct coroutine::first_steps {
  static void enter(fcontext::transfer_t transfer) {
    auto record = *static_cast<jump*>(transfer.data);
    arrive(transfer.fctx, *record.from, *record.to);
    record.to->entry_(record.to->argument_);
  }
};

coroutine::coroutine() noexcept : tsan_fiber_(sanitizer::current_tsan_fiber()) {
}

// Not value-initialised: a stack need not be zeroed.
coroutine::coroutine(std::size_t bytes) : stack_(new std::byte[bytes]), bytes_(bytes) {
}

coroutine::~coroutine() {
  if (stack_ == nullptr)
    return;
  sanitizer::forget_stack(stack_.get(), bytes_);
  if (tsan_fiber_ != nullptr)
    sanitizer::destroy_tsan_fiber(tsan_fiber_);
}

void coroutine::prepare(entry f, void* argument) {
  entry_ = f;
  argument_ = argument;
  sanitizer::forget_stack(stack_.get(), bytes_); // frames of an abandoned run
  fake_stack_ = nullptr;
  asan_bottom_ = stack_.get();
  asan_bytes_ = bytes_;
  // ThreadSanitizer keeps a shadow of the call stack, which must start empty.
  if (tsan_fiber_ != nullptr)
    sanitizer::destroy_tsan_fiber(tsan_fiber_);
  tsan_fiber_ = sanitizer::create_tsan_fiber();
  context_ = fcontext::make_fcontext(stack_.get() + bytes_, bytes_, &first_steps::enter);
}

void coroutine::switch_to(coroutine& from, coroutine& to) noexcept {
  jump record{&from, &to};
  sanitizer::before_switch(&from.fake_stack_, to.asan_bottom_, to.asan_bytes_, to.tsan_fiber_);
  auto transfer = fcontext::jump_fcontext(to.context_, &record);
  auto back = *static_cast<jump*>(transfer.data);
  arrive(transfer.fctx, *back.from, *back.to);
}

void coroutine::arrive(void* context, coroutine& from, coroutine& to) noexcept {
  sanitizer::after_switch(to.fake_stack_, &from.asan_bottom_, &from.asan_bytes_);
  from.context_ = context;
}

} // namespace basal::interleave
