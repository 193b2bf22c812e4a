#include <basal/executors/tick_clock.hpp>

namespace basal::executors {

namespace {

double measure() {
#if defined(__x86_64__)
  using clock = std::chrono::steady_clock;
  auto wall_start = clock::now();
  auto tick_start = tick_clock::now();
  auto wall_end = wall_start;
  do
    wall_end = clock::now();
  while (wall_end - wall_start < std::chrono::microseconds{200});
  auto ticks = tick_clock::now() - tick_start;
  std::chrono::duration<double, std::nano> wall = wall_end - wall_start;
  return static_cast<double>(ticks) / wall.count();
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
