/// Numbers and computations for programs: the same in every run, on every machine.
#pragma once

#include <cstdint>

namespace basal::bench {

/// One of 2^64 numbers, as good as random, for each seed: the output function of splitmix64
/// (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
constexpr std::uint64_t scrambled(std::uint64_t seed) {
  seed += 0x9e37'79b9'7f4a'7c15;
  seed = (seed ^ (seed >> 30)) * 0xbf58'476d'1ce4'e5b9;
  seed = (seed ^ (seed >> 27)) * 0x94d0'49bb'1331'11eb;
  return seed ^ (seed >> 31);
}

/// Some computation: `steps` of 2 to 4 ns one after the other. The result, 0 to 999, depends on
/// all of them.
constexpr std::int64_t computed(std::int64_t seed, int steps) {
  auto value = static_cast<std::uint64_t>(seed);
  for (int i = 0; i < steps; ++i)
    value = scrambled(value);
  return static_cast<std::int64_t>(value % 1000);
}

} // namespace basal::bench
