#include "threads.hpp"

#include <basal/posse/gc/account.hpp>

#include <algorithm>

namespace basal::posse::gc {

const char* limit_exceeded::what() const noexcept {
  return "basal: a computation's limit for the shared heap is exceeded; raise the limit, or keep "
         "less alive at once";
}

void account::over_limit() {
  recount();
  if (bytes() > limit_ - limit_ / 16)
    throw limit_exceeded{};
}

void account::recount() {
  collect();
  bytes_.store(std::min(bytes(), stats().used_bytes), std::memory_order_relaxed);
}

charge_scope::charge_scope(account& a) {
  auto& self = this_thread();
  settle(self); // what came before is another's
  before_ = exchange_account(self, &a);
}

charge_scope::~charge_scope() {
  auto& self = this_thread();
  auto bytes = count_allocated(self);
  exchange_account(self, static_cast<account*>(before_))->add(bytes);
}

} // namespace basal::posse::gc
