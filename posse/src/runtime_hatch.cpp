// How delegations are delivered: through the hatch of an executor that waits there, see
// detail/hatch.hpp, or to one that was idle.

#include <basal/posse/runtime.hpp>

#include <cstddef>
#include <sched.h>

#include <basal/executors/detail/cpu_pause.hpp>
#include <basal/executors/detail/tick_clock.hpp>

namespace basal::posse {

void runtime::delegate(detail::delegation& d, const detail::computation::target& to) noexcept {
  if (to.open != nullptr) {
    to.open->hand(*d.sent);
    return;
  }
  auto& where = *to.context->where;
  where.pool().deliver_claimed(where, d.sent->node);
}

bool runtime::any_hatch_open(const executors::executor& self) const noexcept {
  return visit_open_hatches(self, [](auto&, auto&) { return true; });
}

std::size_t runtime::num_open_hatches(const executors::executor& self) const noexcept {
  std::size_t count = 0;
  visit_open_hatches(self, [&](auto&, auto&) {
    ++count;
    return false;
  });
  return count;
}

/// @returns what was handed in; null: nothing, or its victim has taken it back
detail::delegation* runtime::wait_at_hatch(executors::executor& self,
                                           detail::executor_cells& cells) noexcept {
  if (hatch_ticks_ == 0 || &self.pool() != compute_.get() || is_superfluous(self)
      || num_running(busy_callers()) > cpus_)
    return nullptr;
  auto& hatch = cells.way_in;
  hatch.open();
  ask(self);
  const auto since = executors::tick_clock::now();
  const auto must_go = [&] {
    return executors::tick_clock::now() - since >= hatch_ticks_ || self.work_waits()
           || compute_->is_stopping();
  };
  detail::parcel* sent = nullptr;
  while ((sent = hatch.take()) == nullptr && !must_go())
    executors::cpu_pause();
  if (sent == nullptr && hatch.close())
    return nullptr;
  while (sent == nullptr) { // who has claimed it may wait for this CPU
    sched_yield();
    sent = hatch.take();
  }
  if (sent->dispatch.begin())
    return sent->contents;
  delete sent;
  return nullptr;
}

} // namespace basal::posse
