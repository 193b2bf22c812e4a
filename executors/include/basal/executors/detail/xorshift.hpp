#pragma once

#include <cstddef>
#include <cstdint>

#include <basal/executors/detail/assert.hpp>

namespace basal::detail {

/// Quick random numbers for whom to ask first: xorshift64 (Marsaglia 2003,
/// triple 13, 7, 17). Single-threaded.
class xorshift {
public:
  /// Distinct seeds and streams begin apart, neighbours too.
  xorshift(std::uint64_t seed, std::size_t stream) noexcept
    : state_(mixed(seed + golden_ratio * (stream + 1))) {
    if (state_ == 0) // it would stay 0
      state_ = golden_ratio;
  }

  /// 0 to `bound` - 1. The multiplication maps to the range without a division
  /// (Lemire 2019, without the rejection step: the bias is below 2^-20 for any
  /// number of executors).
  std::size_t below(std::size_t bound) noexcept {
    BASAL_ASSERT(bound > 0, "no number is below 0");
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<std::size_t>(((state_ >> 32) * bound) >> 32);
  }

private:
  static constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;

  /// One to one, and every bit of the result depends on every bit of `z`: the output
  /// function of splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
  static constexpr std::uint64_t mixed(std::uint64_t z) noexcept {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

} // namespace basal::detail
