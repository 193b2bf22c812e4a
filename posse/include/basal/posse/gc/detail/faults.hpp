#pragma once

#include <atomic>

namespace basal::posse::gc::detail {

/// Parts of the protocol that a test may leave out, to show that objects get
/// lost without them. Read during collections only.
struct protocol_faults {
  std::atomic<bool> skip_suspended_stacks{false};
  std::atomic<bool> skip_holding_switches{false};
};

protocol_faults& faults() noexcept;

} // namespace basal::posse::gc::detail
