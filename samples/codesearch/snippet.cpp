#include "snippet.hpp"

#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>

#include "descriptor.hpp"

namespace codesearch {

namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 16;

} // namespace

snippet read_line(const std::string& path, std::uint64_t line, line_mark from, std::size_t limit) {
  const descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd) {
    return {false, "(cannot read it any more: " + std::system_category().message(errno) + ")"};
  }
  struct ::stat info;
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return {false, "(no longer a regular file)"};
  }
  const auto chunk = std::make_unique_for_overwrite<char[]>(chunk_bytes);
  std::uint64_t at_line = from.line;
  std::uint64_t offset = from.offset;
  std::string text;
  for (;;) {
    const ::ssize_t got = ::pread(fd.get(), chunk.get(), chunk_bytes, static_cast<::off_t>(offset));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return {false, "(cannot read it any more: " + std::system_category().message(errno) + ")"};
    }
    if (got == 0) {
      if (at_line == line && !text.empty()) {
        return {true, std::move(text)};
      }
      return {false, "(the file has changed: it has no such line now)"};
    }
    offset += static_cast<std::uint64_t>(got);
    std::string_view rest(chunk.get(), static_cast<std::size_t>(got));
    for (; at_line < line; ++at_line) {
      const auto newline = rest.find('\n');
      if (newline == rest.npos) {
        rest = {};
        break;
      }
      rest.remove_prefix(newline + 1);
    }
    if (at_line == line) {
      const auto newline = rest.find('\n');
      text.append(rest.substr(0, newline), 0, limit - text.size());
      if (newline != rest.npos || text.size() == limit) {
        return {true, std::move(text)};
      }
    }
  }
}

} // namespace codesearch
