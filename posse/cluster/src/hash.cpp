#include <basal/cluster/detail/hash.hpp>

#include <array>
#include <bit>
#include <cstddef>

namespace basal::cluster::detail {

namespace {

// Table k holds the checksum of a byte with k zero bytes behind it: eight bytes take eight
// independent lookups instead of a chain of eight.
using tables = std::array<std::array<std::uint32_t, 256>, 8>;

consteval tables make_tables() {
  tables t{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    auto c = byte;
    for (int bit = 0; bit < 8; ++bit)
      c = (c >> 1) ^ ((c & 1) != 0 ? 0x82f63b78U : 0U);
    t[0][byte] = c;
  }
  for (std::size_t k = 1; k < t.size(); ++k)
    for (std::size_t byte = 0; byte < 256; ++byte)
      t[k][byte] = (t[k - 1][byte] >> 8) ^ t[0][t[k - 1][byte] & 0xff];
  return t;
}

constexpr tables table = make_tables();

std::uint64_t word(const char* bytes, std::size_t count) noexcept {
  std::uint64_t result = 0;
  for (std::size_t i = 0; i < count; ++i)
    result |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return result;
}

constexpr std::uint64_t finished(std::uint64_t k) noexcept {
  k = (k ^ (k >> 33)) * 0xff51afd7ed558ccd;
  k = (k ^ (k >> 33)) * 0xc4ceb9fe1a85ec53;
  return k ^ (k >> 33);
}

} // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) noexcept {
  auto c = ~before;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    const auto w = word(bytes.data(), 8) ^ c;
    c = 0;
    for (std::size_t i = 0; i < 8; ++i)
      c ^= table[7 - i][(w >> (8 * i)) & 0xff];
  }
  for (const char byte : bytes)
    c = (c >> 8) ^ table[0][(c ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~c;
}

std::string content_hash::text() const {
  std::string result;
  for (const auto half : {high, low})
    for (int shift = 60; shift >= 0; shift -= 4)
      result += "0123456789abcdef"[(half >> shift) & 0xf];
  return result;
}

content_hash hash_of(std::string_view bytes, std::uint64_t seed) noexcept {
  constexpr std::uint64_t c1 = 0x87c37b91114253d5;
  constexpr std::uint64_t c2 = 0x4cf5ad432745937f;
  const auto size = bytes.size();
  auto h1 = seed;
  auto h2 = seed;
  const auto first = [](std::uint64_t k) { return std::rotl(k * c1, 31) * c2; };
  const auto second = [](std::uint64_t k) { return std::rotl(k * c2, 33) * c1; };
  for (; bytes.size() >= 16; bytes.remove_prefix(16)) {
    h1 = (std::rotl(h1 ^ first(word(bytes.data(), 8)), 27) + h2) * 5 + 0x52dce729;
    h2 = (std::rotl(h2 ^ second(word(bytes.data() + 8, 8)), 31) + h1) * 5 + 0x38495ab5;
  }
  if (bytes.size() > 8)
    h2 ^= second(word(bytes.data() + 8, bytes.size() - 8));
  h1 ^= first(word(bytes.data(), bytes.size() < 8 ? bytes.size() : 8));
  h1 ^= size;
  h2 ^= size;
  h1 += h2;
  h2 += h1;
  h1 = finished(h1);
  h2 = finished(h2);
  h1 += h2;
  h2 += h1;
  return {h1, h2};
}

} // namespace basal::cluster::detail
