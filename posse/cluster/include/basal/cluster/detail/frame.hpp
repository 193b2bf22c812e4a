/// The envelope of every message and of every record of a journal: 16 bytes, then a body.
///
///     0  "BSLC"   4  version (16 bit)   6  kind (16 bit)   8  body's bytes (32 bit)
///     12 CRC-32C of the first 12 bytes and the body
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <basal/cluster/errors.hpp>

namespace basal::cluster::detail {

enum class frame_kind : std::uint16_t {
  journal_header = 1,
  journal_record = 2,
  items = 3,
  results = 4,
  control = 5,
  worker = 6,
};

inline constexpr std::string_view frame_magic = "BSLC";
inline constexpr std::uint16_t frame_version = 1;
inline constexpr std::size_t frame_header_bytes = 16;

/// Bytes of a body at most, whatever a header says.
inline constexpr std::size_t max_body_bytes = std::size_t{64} << 20;

/// Appends `body` in an envelope to `out`.
/// @throws error too_large
void seal(std::string& out, frame_kind kind, std::string_view body);

/// The body of the frame that `bytes` begin with; the frame ends where the body does.
/// @throws error malformed, other_version, too_large, damaged
std::string_view open_frame(frame_kind kind, std::string_view bytes);

/// The body of the frame that `bytes` are, without anything behind it.
std::string_view open_whole_frame(frame_kind kind, std::string_view bytes);

} // namespace basal::cluster::detail
