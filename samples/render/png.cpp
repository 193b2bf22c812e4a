#include "png.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace render {

namespace {

constexpr std::size_t stored_block = 65'535; // RFC 1951, 3.2.4

void put(std::string& out, std::uint32_t big_endian) {
  for (int shift = 24; shift >= 0; shift -= 8)
    out += static_cast<char>(static_cast<std::uint8_t>(big_endian >> shift));
}

/// CRC-32 of the PNG specification, annex D.
std::uint32_t crc(std::string_view bytes) {
  std::uint32_t c = 0xffffffff;
  for (const char byte : bytes) {
    c ^= static_cast<std::uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit)
      c = (c >> 1) ^ ((c & 1) != 0 ? 0xedb88320U : 0U);
  }
  return ~c;
}

/// Adler-32 (RFC 1950, 8.2).
std::uint32_t adler(std::string_view bytes) {
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  for (const char byte : bytes) {
    a = (a + static_cast<std::uint8_t>(byte)) % 65'521;
    b = (b + a) % 65'521;
  }
  return (b << 16) | a;
}

void put_chunk(std::string& out, std::string_view type, std::string_view data) {
  put(out, static_cast<std::uint32_t>(data.size()));
  const auto checked = std::string{type} + std::string{data};
  out += checked;
  put(out, crc(checked));
}

/// A zlib stream of stored blocks.
std::string stored(std::string_view bytes) {
  std::string out{"\x78\x01"};
  auto rest = bytes;
  do {
    const auto n = std::min(rest.size(), stored_block);
    out += static_cast<char>(n == rest.size() ? 1 : 0);
    for (const auto half : {n, ~n})
      for (int shift = 0; shift <= 8; shift += 8)
        out += static_cast<char>(static_cast<std::uint8_t>(half >> shift));
    out += rest.substr(0, n);
    rest.remove_prefix(n);
  } while (!rest.empty());
  put(out, adler(bytes));
  return out;
}

} // namespace

void write_png(const std::filesystem::path& path, std::uint32_t width, std::uint32_t height,
               std::span<const std::uint8_t> pixels) {
  std::string header;
  put(header, width);
  put(header, height);
  header += std::string{"\x08\x02\x00\x00\x00", 5}; // 8 bits, red green blue, not interlaced
  std::string rows;
  const std::size_t row = std::size_t{3} * width;
  for (std::size_t y = 0; y < height; ++y) {
    rows += '\0'; // no filter
    rows.append(reinterpret_cast<const char*>(pixels.data()) + y * row, row);
  }
  std::string out{"\x89PNG\r\n\x1a\n"};
  put_chunk(out, "IHDR", header);
  put_chunk(out, "IDAT", stored(rows));
  put_chunk(out, "IEND", "");
  std::ofstream file{path, std::ios::binary};
  file.write(out.data(), static_cast<std::streamsize>(out.size()));
  file.close();
  if (!file)
    throw std::runtime_error("cannot write " + path.string());
}

} // namespace render
