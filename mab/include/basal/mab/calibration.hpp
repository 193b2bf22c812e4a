#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace basal::mab {

/// Cost of an offload of nothing, in us.
struct calibration {
  double p50_us = 0;           ///< median round trip
  double p99_us = 0;           ///< 99 of 100 round trips took no longer
  std::size_t round_trips = 0; ///< that were counted
  double quickest_us = 0;      ///< shortest round trip

  /// For knobs.offload_overhead_us: the median, at least a nanosecond.
  double overhead_us() const noexcept {
    return std::max(1e-3, p50_us); // in this order NaN gives the first
  }
};

/// Measures the overhead that choosers expect of an offload before their first.
///
/// `round_trip` offloads a function that does nothing and returns when its result
/// is back; `now` is a clock whose differences convert to microseconds. The first
/// `warm_up` trips are not counted (they start threads and fill caches). Takes
/// about 15 ms at the defaults, during which the calling thread is busy.
///
/// @throws std::invalid_argument when round_trips is 0, and what round_trip throws.
template <std::invocable RoundTrip, std::invocable Now>
calibration calibrate(RoundTrip&& round_trip, Now&& now, std::size_t round_trips = 1000,
                      std::size_t warm_up = 100) {
  if (round_trips == 0)
    throw std::invalid_argument("basal: mab: calibrate: round_trips is 0; it must be at least 1");
  for (std::size_t i = 0; i < warm_up; ++i)
    round_trip();
  std::vector<double> taken_us;
  taken_us.reserve(round_trips);
  for (std::size_t i = 0; i < round_trips; ++i) {
    const auto start = now();
    round_trip();
    taken_us.push_back(std::chrono::duration<double, std::micro>(now() - start).count());
  }
  std::sort(taken_us.begin(), taken_us.end());
  return {taken_us[(round_trips - 1) / 2], taken_us[(round_trips - 1) * 99 / 100], round_trips,
          taken_us.front()};
}

} // namespace basal::mab
