#include <basal/cluster/codec.hpp>
#include <basal/cluster/detail/frame.hpp>
#include <basal/cluster/detail/hash.hpp>

namespace basal::cluster::detail {

namespace {

constexpr std::size_t checked_header_bytes = 12;

[[noreturn]] void too_large(std::size_t bytes) {
  throw error{errc::too_large, "a message of " + std::to_string(bytes) + " bytes; the most is "
                                 + std::to_string(max_body_bytes)};
}

} // namespace

void seal(std::string& out, frame_kind kind, std::string_view body) {
  if (body.size() > max_body_bytes)
    too_large(body.size());
  const auto begin = out.size();
  out.append(frame_magic);
  encoder header{out};
  header.put(frame_version);
  header.put(kind);
  header.put(static_cast<std::uint32_t>(body.size()));
  const auto checked = std::string_view{out}.substr(begin, checked_header_bytes);
  header.put(crc32c(body, crc32c(checked)));
  out.append(body);
}

std::string_view open_frame(frame_kind kind, std::string_view bytes) {
  if (bytes.size() < frame_header_bytes || !bytes.starts_with(frame_magic))
    throw error{errc::malformed, "no message of basal::cluster: it does not begin like one"};
  decoder header{bytes.substr(frame_magic.size(), frame_header_bytes - frame_magic.size())};
  const auto version = header.get<std::uint16_t>();
  const auto found_kind = header.get<frame_kind>();
  const std::size_t size = header.get<std::uint32_t>();
  const auto sum = header.get<std::uint32_t>();
  if (version != frame_version)
    throw error{errc::other_version, "a message in version " + std::to_string(version)
                                       + " of the format; this program reads version "
                                       + std::to_string(frame_version)};
  if (size > max_body_bytes)
    too_large(size);
  if (size > bytes.size() - frame_header_bytes)
    throw error{errc::malformed, "the message ends early"};
  const auto body = bytes.substr(frame_header_bytes, size);
  if (crc32c(body, crc32c(bytes.substr(0, checked_header_bytes))) != sum)
    throw error{errc::damaged, "the message was damaged on its way: its checksum is wrong"};
  if (found_kind != kind)
    throw error{errc::malformed, "a message of another kind than expected here"};
  return body;
}

std::string_view open_whole_frame(frame_kind kind, std::string_view bytes) {
  const auto body = open_frame(kind, bytes);
  if (bytes.size() != frame_header_bytes + body.size())
    throw error{errc::malformed, "there are bytes behind the message"};
  return body;
}

} // namespace basal::cluster::detail
