#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codesearch/build.hpp"
#include "codesearch/text_batch.hpp"

namespace codesearch::test {

/// Expected content of an index, found the plain way: word -> the (file, line) pairs of its places.
using plain_index = std::map<std::string, std::set<std::pair<file_id, std::uint64_t>>>;

/// Adds the words of `text`, read byte by byte.
inline void add_plainly(plain_index& index, file_id file, std::string_view text) {
  std::uint64_t line = 1;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty() && word.size() <= longest_word_bytes) {
      index[word].emplace(file, line);
    }
    word.clear();
  };
  for (const char c : text) {
    const bool letter
      = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (letter) {
      word += c;
      continue;
    }
    end_word();
    if (c == '\n') {
      ++line;
    }
  }
  end_word();
}

/// The same form, read from an index.
inline plain_index contents(const segment& s) {
  plain_index index;
  s.words.for_each_from(0, [&](const word_entry& e) {
    std::uint32_t postings = 1;
    for (const posting* p = e.first;; p = p->next, ++postings) {
      std::vector<std::uint64_t> lines;
      append_lines(*p, lines);
      for (const std::uint64_t line : lines) {
        index[std::string(e.word())].emplace(p->file, line);
      }
      if (p == e.last) {
        break;
      }
    }
    if (postings != e.postings) {
      index["postings miscounted: " + std::string(e.word())] = {};
    }
    return true;
  });
  return index;
}

/// True if every word sorts before the next one by its bytes.
inline bool is_ordered(const vocabulary& words) {
  std::string before;
  bool ordered = true;
  words.for_each_from(0, [&](const word_entry& e) {
    ordered = ordered && before < e.word() && !e.word().empty();
    before = e.word();
    return true;
  });
  return ordered;
}

/// Texts that index functions can read: each with its padding behind it.
class padded_texts {
public:
  text_piece& add(file_id file, std::string_view text, std::uint64_t first_line = 1,
                  bool mid_word = false) {
    auto memory = std::make_unique<char[]>(text.size() + text_padding);
    std::copy(text.begin(), text.end(), memory.get());
    pieces.push_back({file, "file" + std::to_string(file), 0, first_line, mid_word,
                      std::string_view(memory.get(), text.size())});
    memory_.push_back(std::move(memory));
    return pieces.back();
  }

  std::vector<text_piece> pieces;

private:
  std::vector<std::unique_ptr<char[]>> memory_;
};

/// Text made to be hard: short and long words that share beginnings, repeated words, blank lines,
/// long lines, tabs, bytes above 127, no newline at the end.
inline std::string random_text(std::mt19937& random, std::size_t tokens) {
  static constexpr std::string_view separators[]
    = {" ", "\n", "\n\n", "\t", "(", "->", "\xC3\xA9", "\xFF", "\r\n", "#", " # ", ";\n"};
  static constexpr std::string_view stems[]
    = {"a", "ab", "abcdefg", "abcdefgh", "abcdefghi", "abcdefgh_long_word_1", "X", "_", "42"};
  std::string text;
  for (std::size_t i = 0; i < tokens; ++i) {
    text += stems[random() % std::size(stems)];
    if (random() % 3 == 0) {
      text += std::to_string(random() % 50);
    }
    if (random() % 500 == 0) {
      text.append(random() % 3000, 'z');
    }
    const std::size_t gaps = random() % 20 == 0 ? 3 : 1;
    for (std::size_t g = 0; g < gaps; ++g) {
      text += separators[random() % std::size(separators)];
    }
  }
  if (random() % 2 == 0) {
    text += "last";
  }
  return text;
}

} // namespace codesearch::test
