#pragma once

#include <cstdint>

#include <sched.h>
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

/// What comes at once comes within so many looks, some 1.5 us. To let others run
/// before would find it half a microsecond later, a fifth of a round trip.
inline constexpr std::uint32_t keen_looks = 16;

/// Lets a moment pass after the look number `looks`, counted from 0. From
/// keen_looks on, others have a turn on this CPU: the one who is to wake us may be
/// among them, and wait for it until we sleep. 0.4 us if there is nobody; else, on
/// Linux 6.18, a time slice that we wait for when we are woken next (see README).
inline void pause_between_looks(std::uint32_t looks = keen_looks) noexcept {
  for (int i = 0; i < 8; ++i)
    cpu_pause();
  if (looks >= keen_looks)
    sched_yield();
}

} // namespace basal::executors
