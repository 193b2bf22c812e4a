#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace codesearch {

namespace detail {

consteval std::array<bool, 256> make_word_bytes() {
  std::array<bool, 256> table{};
  for (int c = '0'; c <= '9'; ++c) {
    table[static_cast<std::size_t>(c)] = true;
  }
  for (int c = 'A'; c <= 'Z'; ++c) {
    table[static_cast<std::size_t>(c)] = true;
  }
  for (int c = 'a'; c <= 'z'; ++c) {
    table[static_cast<std::size_t>(c)] = true;
  }
  table['_'] = true;
  return table;
}

inline constexpr std::array<bool, 256> word_bytes = make_word_bytes();

} // namespace detail

/// True for the bytes a word is made of: letters, digits and the underscore, as `grep -w` has it
/// in the C locale. Every other byte separates words, so invalid UTF-8 needs no special case.
[[nodiscard]] constexpr bool is_word_byte(char c) noexcept {
  return detail::word_bytes[static_cast<unsigned char>(c)];
}

/// Bytes that must be readable, and zero, behind every text that is indexed: the scanner loads
/// words eight bytes at a time and stops at a separator, so it needs no bounds check in its loop.
inline constexpr std::size_t text_padding = 16;

/// Runs of word bytes longer than this are data rather than words (base64, minified tables). They
/// are counted and not indexed.
inline constexpr std::size_t longest_word_bytes = 1024;

/// The first eight bytes of a word as a number that sorts as the bytes do. `text` must have eight
/// readable bytes; those at and after `length` do not count.
[[nodiscard]] inline std::uint64_t word_prefix_padded(const char* text,
                                                      std::size_t length) noexcept {
  static_assert(std::endian::native == std::endian::little
                || std::endian::native == std::endian::big);
  std::uint64_t value;
  std::memcpy(&value, text, sizeof value);
  if constexpr (std::endian::native == std::endian::little) {
    value = __builtin_bswap64(value);
  }
  return length >= 8 ? value : value & ~(~std::uint64_t{0} >> (8 * length));
}

/// The same for a word with nothing readable behind it.
[[nodiscard]] inline std::uint64_t word_prefix(std::string_view word) noexcept {
  char padded[8] = {};
  std::memcpy(padded, word.data(), word.size() < 8 ? word.size() : 8);
  return word_prefix_padded(padded, word.size());
}

} // namespace codesearch
