#pragma once

#include <basal/posse/member.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "include_scan.hpp"
#include "posting.hpp"
#include "vocabulary.hpp"

namespace codesearch {

/// Facts about one piece of one file: most files are one part. Owns the memory of the postings and
/// words that the piece added to the index.
struct file_part {
  file_id file = 0;
  std::string path;
  std::uint64_t offset = 0;     ///< of the first byte in the file
  std::uint64_t first_line = 1; ///< number of the line that the first byte belongs to
  std::uint64_t bytes = 0;
  std::vector<include_name> includes;
  std::unique_ptr<std::byte[]> memory;
};

/// Sums over the files of an index.
struct index_totals {
  std::uint64_t bytes = 0;
  std::uint64_t lines = 0;      ///< newline characters
  std::uint64_t tokens = 0;     ///< words in the text, with repetitions
  std::uint64_t postings = 0;   ///< pairs of a word and a line it stands in
  std::uint64_t long_words = 0; ///< runs of word bytes too long to be indexed

  index_totals& operator+=(const index_totals& other) noexcept {
    bytes += other.bytes;
    lines += other.lines;
    tokens += other.tokens;
    postings += other.postings;
    long_words += other.long_words;
    return *this;
  }
};

/// An ordered index of some files: word -> (file, line numbers). One type from a single small file
/// to the whole tree. Any number of threads may read it, also while it is being merged; it may be
/// merged once (see posting.hpp).
struct segment {
  vocabulary words;
  std::vector<std::shared_ptr<const file_part>> parts;
  index_totals totals;
};

/// The index of the files of both sides, the left side's first.
[[nodiscard]] segment merge_segments(basal::posse::member& m, segment&& left, segment&& right);

/// The same for sides that others may be reading.
[[nodiscard]] segment merge_segments(basal::posse::member& m, const segment& left,
                                     const segment& right);

} // namespace codesearch
