#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace render {

/// Writes rows of red, green and blue bytes as a PNG file, without compressing them.
/// @throws std::runtime_error
void write_png(const std::filesystem::path& path, std::uint32_t width, std::uint32_t height,
               std::span<const std::uint8_t> pixels);

} // namespace render
