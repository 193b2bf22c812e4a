#pragma once

#include <basal/executors/executor.hpp>
#include <basal/posse/detail/charge_frame.hpp>
#include <basal/posse/detail/collector.hpp>

namespace basal::posse::detail {

inline charge_frame* innermost_charge(executors::fiber& f) noexcept {
  return static_cast<charge_frame*>(f.attachment());
}

/// The account in force on the calling thread, or null.
inline void* account_in_force() noexcept {
  const auto* hooks = collector.load(std::memory_order_acquire);
  return hooks != nullptr ? hooks->account_in_force() : nullptr;
}

/// To be called before this fiber is suspended: what it took from the heap since
/// the last time is charged before others allocate on this thread.
[[gnu::always_inline]] inline void settle_account() noexcept {
  if (const auto* hooks = collector.load(std::memory_order_acquire)) [[unlikely]]
    hooks->settle();
}

/// While it lives, the fiber that runs on `self` charges an account of another
/// thread's work, a part of which it does.
class inherited_charge {
public:
  inherited_charge(executors::executor& self, void* account) noexcept : fiber_(self.running()) {
    settle_account();
    open_charge(frame_, innermost_charge(fiber_), account);
    fiber_.attachment() = &frame_;
  }

  ~inherited_charge() {
    settle_account();
    fiber_.attachment() = frame_.outer;
  }

  inherited_charge(const inherited_charge&) = delete;
  inherited_charge& operator=(const inherited_charge&) = delete;

private:
  executors::fiber& fiber_;
  charge_frame frame_;
};

} // namespace basal::posse::detail
