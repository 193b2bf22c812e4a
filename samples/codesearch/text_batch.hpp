#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "posting.hpp"
#include "word_bytes.hpp"

namespace codesearch {

/// Text of one file, or of a part of a large one. Cut at the end of a line where there is one,
/// else between two words.
struct text_piece {
  file_id file = 0;
  std::string path;
  std::uint64_t offset = 0;     ///< of the first byte in its file
  std::uint64_t first_line = 1; ///< number of the line that the first byte belongs to
  bool mid_word = false; ///< starts inside a run of word bytes that the piece before it began
  std::string_view text; ///< with `text_padding` zero bytes behind it
};

/// Memory for the texts of one batch. Buffers circulate between the readers and the index and so
/// bound how much text is in memory: who has none may not read.
class text_buffer {
public:
  /// Smaller ones could cut a word that is short enough to be indexed.
  static constexpr std::size_t smallest_bytes = 4 * longest_word_bytes;

  /// `bytes` of text and padding fit, `smallest_bytes` if that is more. Throws std::bad_alloc.
  explicit text_buffer(std::size_t bytes)
    : bytes_(std::max(bytes, smallest_bytes)),
      data_(std::make_unique_for_overwrite<char[]>(bytes_)) {
  }

  [[nodiscard]] char* data() noexcept {
    return data_.get();
  }

  [[nodiscard]] std::size_t size() const noexcept {
    return bytes_;
  }

private:
  std::size_t bytes_;
  std::unique_ptr<char[]> data_;
};

/// The unit that a reader hands to the index: pieces of text and the buffer that they lie in.
struct text_batch {
  std::unique_ptr<text_buffer> buffer;
  std::vector<text_piece> pieces;
  std::uint64_t bytes = 0;         ///< of text, in all pieces
  std::uint64_t skipped_bytes = 0; ///< of files that were read for this batch and are not in it
};

} // namespace codesearch
