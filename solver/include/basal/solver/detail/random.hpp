/// Random numbers by their number rather than by their order.
#pragma once

#include <array>
#include <cstdint>

namespace basal::solver {

/// Philox4x32-10: four random words for each 128-bit counter and 64-bit key, without a state to
/// pass on. So a walk's numbers do not depend on who walks, or after whom.
///
/// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011;
/// same words as Random123's philox4x32.
constexpr std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                                  std::array<std::uint32_t, 2> key) noexcept {
  for (int round = 0; round < 10; ++round) {
    const auto low = std::uint64_t{0xD2511F53} * counter[0];
    const auto high = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(high >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(high),
               static_cast<std::uint32_t>(low >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(low)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

/// The numbers of one walk, uniform in [0, 1), determined by seed, walk and position alone.
class walk_numbers {
public:
  constexpr walk_numbers(std::uint64_t seed, std::uint64_t walk) noexcept
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
      walk_{static_cast<std::uint32_t>(walk), static_cast<std::uint32_t>(walk >> 32)} {
  }

  constexpr double next() noexcept {
    if (position_ % 2 == 0)
      words_ = philox4x32({walk_[0], walk_[1], position_ / 2, 0}, key_);
    const auto half = position_++ % 2 * 2;
    const auto bits = std::uint64_t{words_[half]} << 32 | words_[half + 1];
    return static_cast<double>(bits >> 11) * 0x1p-53;
  }

private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 2> walk_;
  std::uint32_t position_ = 0;
  std::array<std::uint32_t, 4> words_{};
};

} // namespace basal::solver
