#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace codesearch {

/// Number of a file in the order in which the walk found it.
using file_id = std::uint32_t;

/// The lines of one word in one part of a file: a header, followed in memory by `lines` line
/// numbers in rising order, each stored as the difference to the one before in base-128 bytes
/// (low bits first, the high bit says that another byte follows).
///
/// Postings of one word form a chain, and merging two indexes links chains without moving
/// postings. `next` of the *last* posting of a chain belongs to whoever merges the chain later,
/// possibly while it is read: readers stop at the last posting by its address and never look at
/// its `next`. An index may therefore be read while it is merged, and may be merged once.
struct posting {
  posting* next;
  file_id file;
  std::uint32_t lines;

  [[nodiscard]] std::uint8_t* line_bytes() noexcept {
    return reinterpret_cast<std::uint8_t*>(this + 1);
  }

  [[nodiscard]] const std::uint8_t* line_bytes() const noexcept {
    return reinterpret_cast<const std::uint8_t*>(this + 1);
  }
};

static_assert(sizeof(posting) == 16);

/// Bytes that `put_varint` writes for `value`: 1 to 10.
[[nodiscard]] constexpr std::size_t varint_bytes(std::uint64_t value) noexcept {
  std::size_t bytes = 1;
  while (value >= 0x80) {
    value >>= 7;
    ++bytes;
  }
  return bytes;
}

/// Writes `value` and returns the place behind it.
constexpr std::uint8_t* put_varint(std::uint8_t* out, std::uint64_t value) noexcept {
  while (value >= 0x80) {
    *out++ = static_cast<std::uint8_t>(value | 0x80);
    value >>= 7;
  }
  *out++ = static_cast<std::uint8_t>(value);
  return out;
}

/// Reads into `value` and returns the place behind it.
constexpr const std::uint8_t* get_varint(const std::uint8_t* in, std::uint64_t& value) noexcept {
  std::uint64_t result = 0;
  unsigned shift = 0;
  while (*in & 0x80) {
    result |= std::uint64_t{*in++ & 0x7Fu} << shift;
    shift += 7;
  }
  value = result | (std::uint64_t{*in++} << shift);
  return in;
}

/// Appends the line numbers of `p`, counted from 1, to `out`.
inline void append_lines(const posting& p, std::vector<std::uint64_t>& out) {
  const std::uint8_t* in = p.line_bytes();
  std::uint64_t line = 0;
  for (std::uint32_t i = 0; i < p.lines; ++i) {
    std::uint64_t step;
    in = get_varint(in, step);
    line += step;
    out.push_back(line);
  }
}

} // namespace codesearch
