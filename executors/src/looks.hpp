#pragma once

#include <basal/executors/detail/cpu_pause.hpp>

namespace basal::executors {

/// Lets a moment pass, some 0.1 us, between two looks at what this thread owns and others
/// seldom write. No turn for others on this CPU: beside a busy thread a yield costs a time slice
/// on Linux 6.18, which the one that yields waits for when it is woken next.
inline void pause_between_looks() noexcept {
  for (int i = 0; i < 8; ++i)
    cpu_pause();
}

} // namespace basal::executors
