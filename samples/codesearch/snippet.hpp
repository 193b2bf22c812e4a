#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace codesearch {

/// Start of a known line of a file, so that the search for a later one need not begin at the first.
struct line_mark {
  std::uint64_t line = 1;   ///< counted from 1
  std::uint64_t offset = 0; ///< in bytes
};

/// A line of a file as it is now, which may differ from when it was indexed.
struct snippet {
  bool found = false;
  std::string text; ///< without its newline, at most `limit` bytes; or why there is none
};

/// Reads line `line` of a file. `from` must not lie behind it. Blocks on the file system; reads
/// from `from` on, in pieces. Never throws for what is wrong with the file.
[[nodiscard]] snippet read_line(const std::string& path, std::uint64_t line, line_mark from,
                                std::size_t limit = 4096);

} // namespace codesearch
