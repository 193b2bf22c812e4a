#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace basal::executors {

/// Times by powers of two, from a nanosecond to half a minute.
struct time_buckets {
  static constexpr std::size_t size = 36;

  /// That of a time. Bucket b ends at 2^b * 125/128 ns, so that bucket 10 ends at one microsecond.
  static constexpr std::size_t of(std::uint64_t ns) noexcept {
    constexpr std::uint64_t longest = std::uint64_t{1} << 50; // far behind the last one
    return std::min<std::size_t>(std::bit_width(std::min(ns, longest) * 128 / 125), size - 1);
  }

  /// Where it ends, in nanoseconds.
  static constexpr double end(std::size_t bucket) noexcept {
    return static_cast<double>(std::uint64_t{1} << bucket) * 125 / 128;
  }
};

} // namespace basal::executors
