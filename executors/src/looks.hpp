#pragma once

#if defined(__x86_64__)
#  include <immintrin.h>
#endif

namespace basal::executors {

/// Tells the processor that this is a waiting loop.
inline void cpu_pause() noexcept {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

/// Lets a moment pass, some 0.1 us, between two looks at what this thread owns and others
/// seldom write. No turn for others on this CPU: beside a busy thread a yield costs a time slice
/// on Linux 6.18, which the one that yields waits for when it is woken next.
inline void pause_between_looks() noexcept {
  for (int i = 0; i < 8; ++i)
    cpu_pause();
}

} // namespace basal::executors
