/// Two hashes of bytes: a checksum against damage, and a name for contents. Neither withstands
/// somebody who wants two different values to have the same one.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace basal::cluster::detail {

/// CRC-32C (Castagnoli; RFC 3720, appendix B.4) of `bytes` behind those whose checksum is `before`.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0) noexcept;

/// 128 bits that name contents.
struct content_hash {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  auto operator<=>(const content_hash&) const = default;

  /// 32 hexadecimal digits.
  std::string text() const;
};

template <class Fields>
auto inspect(Fields& f, content_hash& x) {
  return f(x.low, x.high);
}

/// MurmurHash3_x64_128 (Appleby), the same on every machine.
content_hash hash_of(std::string_view bytes, std::uint64_t seed = 0) noexcept;

} // namespace basal::cluster::detail
