#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "posting.hpp"
#include "word_bytes.hpp"

namespace codesearch {

/// The distinct words of one piece of text while it is scanned: an open-addressing table over
/// words that stay where they lie in the text. One owner, no locks.
class word_table {
public:
  struct word {
    std::uint64_t prefix;
    const char* text;
    std::uint32_t length;
    std::uint32_t hash;
    std::uint32_t last_line = 0;  ///< the latest line with this word, from 1; 0: none yet
    std::uint32_t lines = 0;      ///< number of lines with this word
    std::uint32_t line_bytes = 0; ///< of postings for these lines
  };

  /// Sized for the usual number of words in `text_bytes` of source text; grows when there are
  /// more.
  explicit word_table(std::size_t text_bytes);

  /// The number of the word at `text`, which is added if it is new. Eight bytes from `text` must
  /// be readable. Numbers count from 0 in the order of first appearance.
  [[nodiscard]] std::uint32_t find_or_add(const char* text, std::uint32_t length) {
    const std::uint64_t prefix = word_prefix_padded(text, length);
    const std::uint32_t hash = hash_of(prefix, text, length);
    for (std::size_t at = hash >> shift_;; at = (at + 1) & mask_) {
      slot& s = slots_[at];
      if (s.number == 0) {
        return add(s, word{prefix, text, length, hash});
      }
      if (s.hash == hash) {
        const word& w = words_[s.number - 1];
        if (w.prefix == prefix && w.length == length
            && (length <= 8 || std::memcmp(w.text + 8, text + 8, length - 8) == 0)) {
          return s.number - 1;
        }
      }
    }
  }

  [[nodiscard]] word& operator[](std::uint32_t number) noexcept {
    return words_[number];
  }

  [[nodiscard]] std::vector<word>& words() noexcept {
    return words_;
  }

private:
  struct slot {
    std::uint32_t hash;
    std::uint32_t number; // from 1; 0: free
  };

  [[nodiscard]] static std::uint32_t hash_of(std::uint64_t prefix, const char* text,
                                             std::uint32_t length) noexcept {
    // Multiply and take the high half: the usual Fibonacci hash, once per eight bytes. The last
    // eight bytes overlap the ones before, so that no byte needs a loop of its own.
    constexpr std::uint64_t k = 0x9E3779B97F4A7C15u;
    std::uint64_t h = (prefix ^ length) * k;
    if (length > 8) {
      const char* const last = text + length - 8;
      for (const char* at = text + 8; at < last; at += 8) {
        h = (h ^ (h >> 32) ^ load(at)) * k;
      }
      h = (h ^ (h >> 32) ^ load(last)) * k;
    }
    return static_cast<std::uint32_t>((h ^ (h >> 29)) * k >> 32);
  }

  [[nodiscard]] static std::uint64_t load(const char* at) noexcept {
    std::uint64_t value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }

  std::uint32_t add(slot& s, const word& w);

  void grow();

  std::vector<word> words_;
  std::unique_ptr<slot[]> slots_;
  std::size_t mask_; // slots - 1; a power of two less one
  unsigned shift_;   // 32 - log2(slots): the high bits of the hash choose the slot
  std::size_t words_before_growth_;
};

} // namespace codesearch
