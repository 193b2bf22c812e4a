#pragma once

#include <atomic>

namespace basal::posse::gc::detail {

/// Parts of the protocol that a test may leave out, to show that objects get
/// lost without them. Read where nothing is lost by reading them: in collections
/// and thefts.
struct protocol_faults {
  std::atomic<bool> skip_suspended_stacks{false};
  std::atomic<bool> skip_holding_switches{false};
  std::atomic<bool> hide_results{false}; ///< from the first computation on
};

protocol_faults& faults() noexcept;

} // namespace basal::posse::gc::detail
