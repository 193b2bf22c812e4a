#include <basal/executors/detail/spare_fibers.hpp>

#include <algorithm>
#include <utility>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/stack_pool.hpp>
#include <basal/executors/executor.hpp>
#include <basal/executors/executor_pool.hpp>

namespace basal::executors {

namespace {

/// Gives back the memory of `s` below `sp`, except what stays for the next use.
void cool(const stack& s, const void* sp) noexcept {
  const auto* here = static_cast<const std::byte*>(sp);
  if (static_cast<std::size_t>(here - s.floor) > spare_fibers::kept_bytes)
    stack_pool::give_back_below(s, here - spare_fibers::kept_bytes);
}

} // namespace

fiber* spare_fibers::take() noexcept {
  auto& list = warm_ != nullptr ? warm_ : cool_;
  auto* f = list;
  if (f == nullptr)
    return nullptr;
  BASAL_ASSERT((warm_ != nullptr ? num_warm_ : num_cool_) > 0, "spare fibers are counted");
  --(warm_ != nullptr ? num_warm_ : num_cool_);
  list = f->next_spare_;
  f->cool_ = false;
  return f;
}

void spare_fibers::keep(fiber& f) noexcept {
  BASAL_ASSERT(f.waits_for_ == nullptr, "a fiber that waits is not spare");
  BASAL_ASSERT(warm_ != &f && cool_ != &f, "a spare fiber is kept once");
  f.next_spare_ = std::exchange(warm_, &f);
  ++num_warm_;
}

void spare_fibers::put(fiber& f, executor& home) noexcept {
  if (num_warm_ < max_warm) {
    keep(f);
  } else if (num_warm_ + num_cool_ < max_spares) {
    cool(f.stack_, f.context_);
    f.next_spare_ = std::exchange(cool_, &f);
    ++num_cool_;
  } else {
    fiber::destroy(f, home.pool().stacks());
  }
}

void spare_fibers::rest(fiber& running) noexcept {
  for (auto* f = warm_; f != nullptr; f = f->next_spare_)
    if (!std::exchange(f->cool_, true))
      cool(f->stack_, f->context_);
  if (running.stack_.base != nullptr)
    cool(running.stack_, __builtin_frame_address(0));
}

} // namespace basal::executors
