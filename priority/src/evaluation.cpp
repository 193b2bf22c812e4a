#include <basal/priority/evaluation.hpp>

#include <basal/executors/detail/assert.hpp>

#include "pool_parts.hpp"

namespace basal::priority {

namespace {

/// The youngest evaluation of this thread. A list and not a depth, since there
/// may be several pools. Not a stack: fibers of one thread end their evaluations
/// in any order.
thread_local evaluation* youngest = nullptr;

} // namespace

evaluation::evaluation(background_pool& pool) noexcept : pool_(pool), older_(youngest) {
  if (older_ != nullptr)
    older_->younger_ = this;
  youngest = this;
  // Relaxed: a hint which way to go; either is right.
  if (only_one())
    pool_.parts_->evaluations.fetch_add(1, std::memory_order_relaxed);
}

evaluation::~evaluation() {
  if (only_one())
    pool_.parts_->evaluations.fetch_sub(1, std::memory_order_relaxed);
  BASAL_ASSERT(younger_ != nullptr ? younger_->older_ == this : youngest == this,
               "an evaluation ends on the thread where it began");
  if (older_ != nullptr)
    older_->younger_ = younger_;
  (younger_ != nullptr ? younger_->older_ : youngest) = older_;
}

/// Whether it is this thread's only one for its pool. From the youngest, since
/// those of a recursion are many and next to each other.
bool evaluation::only_one() const noexcept {
  for (auto* e = youngest; e != nullptr; e = e->older_)
    if (e != this && &e->pool_ == &pool_)
      return false;
  return true;
}

} // namespace basal::priority
