#pragma once

#include <chrono>
#include <cstdint>

namespace basal::executors {

/// A clock that is cheap enough to read on slow paths of hot code: the
/// processor's time stamp counter where there is one (about 10-20 ns under a
/// hypervisor), else std::chrono::steady_clock. Any thread; monotonic on
/// processors with an invariant counter.
struct tick_clock {
  /// The counter now.
  static std::uint64_t now() noexcept {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
  }

  /// The same once all loads before are done, and before any load after it: for the time that
  /// one takes. Where there is no time stamp counter it may be read earlier or later.
  static std::uint64_t now_in_order() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_lfence();
    const auto ticks = __builtin_ia32_rdtsc();
    __builtin_ia32_lfence();
    return ticks;
#else
    return now();
#endif
  }

  /// Ticks per nanosecond. The first call takes about 0.2 ms to measure it.
  static double per_nanosecond() noexcept;

  /// Its inverse: conversions that are frequent multiply.
  static double nanoseconds_per_tick() noexcept;

  static std::uint64_t to_ticks(std::chrono::nanoseconds d) noexcept {
    return static_cast<std::uint64_t>(static_cast<double>(d.count()) * per_nanosecond());
  }

  static std::chrono::nanoseconds to_duration(std::uint64_t ticks) noexcept {
    return std::chrono::nanoseconds{
      static_cast<std::int64_t>(static_cast<double>(ticks) * nanoseconds_per_tick())};
  }
};

} // namespace basal::executors
