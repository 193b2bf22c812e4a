#pragma once

#include <cstddef>
#include <cstdint>

namespace basal::detail {

/// Quick random numbers for whom to ask first: xorshift64 (Marsaglia 2003,
/// triple 13, 7, 17). Single-threaded.
class xorshift {
public:
  /// Distinct seeds and streams begin apart.
  xorshift(std::uint64_t seed, std::size_t stream) noexcept
    : state_((seed ^ (0x9e3779b97f4a7c15ull * (stream + 1))) | 1) { // never 0, where it would stay
  }

  /// 0 to `bound` - 1. The multiplication maps to the range without a division
  /// (Lemire 2019, without the rejection step: the bias is below 2^-20 for any
  /// number of executors).
  std::size_t below(std::size_t bound) noexcept {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<std::size_t>(((state_ >> 32) * bound) >> 32);
  }

private:
  std::uint64_t state_;
};

} // namespace basal::detail
