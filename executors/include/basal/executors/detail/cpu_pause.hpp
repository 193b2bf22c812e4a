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

} // namespace basal::executors
