#include "threads.hpp"

#include <basal/executors/detail/assert.hpp>
#include <basal/posse/gc/account.hpp>

namespace basal::posse::gc {

const char* limit_exceeded::what() const noexcept {
  return "basal: a computation's limit for the shared heap is exceeded; raise the limit, or keep "
         "less alive at once";
}

account::~account() {
  if (loans_.load(std::memory_order_acquire) != 0)
    basal::detail::assertion_failed("a gc::account outlives the futures and tasks that were begun "
                                    "in its charge_scope; wait for them first",
                                    __FILE__, __LINE__);
}

void account::over_limit() {
  recount();
  if (bytes() > limit_ - limit_ / 16)
    throw limit_exceeded{};
}

void account::recount() {
  collect();
  auto used = stats().used_bytes;
  auto known = bytes();
  while (known > used && !bytes_.compare_exchange_weak(known, used, std::memory_order_relaxed)) {
  }
}

charge_scope::charge_scope(account& a) {
  auto& self = this_thread();
  settle(self); // earlier allocations are another account's
  posse::detail::open_charge(frame_, innermost_charge(self), &a);
  set_innermost_charge(self, &frame_);
}

charge_scope::~charge_scope() {
  auto& self = this_thread();
  BASAL_ASSERT(innermost_charge(self) == &frame_,
               "a charge_scope ends on its own fiber, after those within it");
  add_allocated(self);
  set_innermost_charge(self, frame_.outer);
}

} // namespace basal::posse::gc
