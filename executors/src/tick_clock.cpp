#include <basal/executors/detail/tick_clock.hpp>

namespace basal::executors {

namespace {

#if defined(__x86_64__)
using clock = std::chrono::steady_clock;

/// Both clocks at the same time.
struct reading {
  std::uint64_t ticks;
  clock::time_point wall;
};

/// The wall clock is read before and after the ticks: of a few attempts the one
/// counts during which the thread was interrupted least.
reading read_both() {
  reading best{};
  auto least = clock::duration::max();
  for (int i = 0; i < 8; ++i) {
    auto before = clock::now();
    auto ticks = tick_clock::now();
    auto took = clock::now() - before;
    if (took < least) {
      least = took;
      best = {ticks, before + took / 2};
    }
  }
  return best;
}
#endif

double measure() {
#if defined(__x86_64__)
  auto start = read_both();
  while (clock::now() - start.wall < std::chrono::microseconds{200}) {
  }
  auto end = read_both();
  std::chrono::duration<double, std::nano> wall = end.wall - start.wall;
  return static_cast<double>(end.ticks - start.ticks) / wall.count();
#else
  return 1.0; // steady_clock counts nanoseconds
#endif
}

} // namespace

double tick_clock::per_nanosecond() noexcept {
  static const double result = measure();
  return result;
}

double tick_clock::nanoseconds_per_tick() noexcept {
  static const double result = 1 / per_nanosecond();
  return result;
}

} // namespace basal::executors
