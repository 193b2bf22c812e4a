#include "times_of_buckets.hpp"

#include <cstddef>

namespace basal::actors {

namespace {

using executors::time_buckets;

/// Evenly spread in its bucket.
std::uint64_t quantile(time_counts buckets, std::uint64_t count, double share) noexcept {
  auto wanted = share * static_cast<double>(count);
  for (std::size_t i = 0; i < time_buckets::size; ++i) {
    const auto here = static_cast<double>(buckets[i]);
    if (here > 0 && wanted <= here) {
      const auto begin = i == 0 ? 0 : time_buckets::end(i - 1);
      return static_cast<std::uint64_t>(begin + (time_buckets::end(i) - begin) * wanted / here);
    }
    wanted -= here;
  }
  return 0;
}

} // namespace

time_stats times_of_buckets(time_counts buckets, std::uint64_t sum_ns, bool with_limits) {
  time_stats result;
  result.sum_ns = sum_ns;
  for (const auto n : buckets)
    result.count += n;
  result.p50_ns = quantile(buckets, result.count, 0.50);
  result.p99_ns = quantile(buckets, result.count, 0.99);
  constexpr std::size_t microsecond = 10; // the bucket that ends there
  for (std::size_t k = 0, i = 0, within = 0; with_limits && k < time_limits; ++k) {
    for (; i <= microsecond + 2 * k; ++i)
      within += buckets[i];
    result.within.push_back(within);
  }
  return result;
}

} // namespace basal::actors
