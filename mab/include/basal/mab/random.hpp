#pragma once

#include <cstdint>
#include <limits>
#include <random>

#include <basal/mab/detail/normal.hpp>

namespace basal::mab {

/// A source of random numbers that choosers accept: all 64 bits random.
/// std::mt19937_64 is one, splitmix64 below is the small and quick one.
template <class T>
concept random_source = std::uniform_random_bit_generator<T> && T::min()
== 0 && T::max() == std::numeric_limits<std::uint64_t>::max();

/// Eight bytes of state, a few instructions a number. Good for draws, not for secrets.
///
/// One per executor, seeded differently; not thread-safe.
///
/// Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators",
/// OOPSLA 2014, as in java.util.SplittableRandom.
class splitmix64 {
public:
  /// Requirements of std::uniform_random_bit_generator: each of the 2^64 values is equally likely.
  /// @{
  using result_type = std::uint64_t;

  explicit splitmix64(std::uint64_t seed) noexcept : state_(seed) {
  }

  static constexpr result_type min() noexcept {
    return 0;
  }

  static constexpr result_type max() noexcept {
    return std::numeric_limits<result_type>::max();
  }

  result_type operator()() noexcept {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// @}

private:
  std::uint64_t state_;
};

/// One draw, uniform on the open interval (0, 1).
template <random_source Random>
double uniform(Random& random) noexcept(noexcept(random())) {
  // The middles of 2^52 steps: never 0 or 1, whose quantiles are infinite. With 2^53
  // steps the topmost middle would need 54 bits and round to 1.
  return (static_cast<double>(random() >> 12) + 0.5) * 0x1p-52;
}

/// One draw of the standard normal distribution.
template <random_source Random>
double standard_normal(Random& random) noexcept(noexcept(random())) {
  return normal_quantile(uniform(random));
}

} // namespace basal::mab
