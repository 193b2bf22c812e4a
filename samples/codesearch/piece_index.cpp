#include "piece_index.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "word_table.hpp"

namespace codesearch {

namespace {

// About half a quantum of scanning.
constexpr std::size_t bytes_between_polls = std::size_t{1} << 16;

struct occurrence {
  std::uint32_t word; // its number in the table
  std::uint32_t line; // in the piece, from 1
};

constexpr std::size_t align_posting(std::size_t bytes) {
  return (bytes + alignof(posting) - 1) & ~(alignof(posting) - 1);
}

class piece_indexer {
public:
  explicit piece_indexer(const text_piece& piece)
    : piece_(piece), base_(piece.first_line - 1), table_(piece.text.size()) {
    occurrences_.reserve(piece.text.size() / 12);
    result_.totals.bytes = piece.text.size();
  }

  segment run(basal::posse::member& m) {
    scan(m);
    write();
    return std::move(result_);
  }

private:
  // First pass: counts what each word needs, so that the second one can write every posting to
  // its final place.
  void scan(basal::posse::member& m) {
    const char* at = piece_.text.data();
    const char* const end = at + piece_.text.size();
    if (piece_.mid_word) {
      while (is_word_byte(*at)) { // the padding stops this at the end
        ++at;
      }
    }
    while (at < end) {
      const char* const stop
        = static_cast<std::size_t>(end - at) > bytes_between_polls ? at + bytes_between_polls : end;
      at = scan_words(at, stop);
      m.poll();
    }
    result_.totals.lines = line_ - 1;
  }

  // Scans the words that start before `end`; returns where the last one ended.
  const char* scan_words(const char* at, const char* end) {
    std::uint64_t tokens = 0;
    std::uint32_t line = line_;
    for (; at < end; ++at) {
      if (is_word_byte(*at)) {
        const char* const start = at;
        do {
          ++at;
        } while (is_word_byte(*at));
        ++tokens;
        add_word(start, static_cast<std::size_t>(at - start), line);
        if (at >= end) {
          break; // this byte belongs to the next call
        }
      }
      if (*at == '\n') {
        ++line;
      } else if (*at == '#') {
        line_ = line;
        directive(at);
      }
    }
    line_ = line;
    result_.totals.tokens += tokens;
    return at;
  }

  void add_word(const char* text, std::size_t length, std::uint32_t line) {
    if (length > longest_word_bytes) {
      ++result_.totals.long_words;
      return;
    }
    const std::uint32_t number = table_.find_or_add(text, static_cast<std::uint32_t>(length));
    auto& word = table_[number];
    if (word.last_line == line) {
      return;
    }
    const std::uint64_t step = word.last_line == 0 ? base_ + line : line - word.last_line;
    word.line_bytes += static_cast<std::uint32_t>(varint_bytes(step));
    ++word.lines;
    word.last_line = line;
    occurrences_.push_back({number, line});
  }

  void directive(const char* hash) {
    const char* before = hash;
    while (before != piece_.text.data() && (before[-1] == ' ' || before[-1] == '\t')) {
      --before;
    }
    const bool opens_line = before == piece_.text.data() ? !piece_.mid_word : before[-1] == '\n';
    if (opens_line) {
      const auto rest = static_cast<std::size_t>(piece_.text.data() + piece_.text.size() - hash);
      scan_directive({hash + 1, rest - 1}, includes_);
    }
  }

  // Second pass: the words in order, each with one posting.
  void write() {
    auto& words = table_.words();
    const std::vector<std::uint32_t> order = sorted(words);
    std::size_t posting_bytes = 0;
    std::size_t text_bytes = 0;
    for (const auto& w : words) {
      posting_bytes += align_posting(sizeof(posting) + w.line_bytes);
      text_bytes += w.length;
    }
    auto memory = std::make_unique_for_overwrite<std::byte[]>(posting_bytes + text_bytes);
    std::byte* posting_at = memory.get();
    auto* text_at = reinterpret_cast<char*>(posting_at + posting_bytes);
    vocabulary::run run;
    run.size = words.size();
    run.entries = std::make_unique_for_overwrite<word_entry[]>(run.size);
    std::vector<std::uint8_t*> line_at(words.size());
    word_entry* entry = run.entries.get();
    for (const std::uint32_t number : order) {
      auto& w = words[number];
      auto* p = ::new (posting_at) posting{nullptr, piece_.file, w.lines};
      line_at[number] = p->line_bytes();
      posting_at += align_posting(sizeof(posting) + w.line_bytes);
      std::memcpy(text_at, w.text, w.length);
      *entry++ = word_entry{w.prefix, text_at, w.length, 1, p, p};
      text_at += w.length;
      w.last_line = 0;
    }
    for (const occurrence& o : occurrences_) {
      auto& w = words[o.word];
      const std::uint64_t step = w.last_line == 0 ? base_ + o.line : o.line - w.last_line;
      line_at[o.word] = put_varint(line_at[o.word], step);
      w.last_line = o.line;
    }
    std::vector<vocabulary::run> runs;
    runs.push_back(std::move(run));
    result_.words = vocabulary(std::move(runs));
    result_.totals.postings = occurrences_.size();
    if (result_.words.find("import") != nullptr) {
      scan_imports(piece_.text, includes_);
    }
    result_.parts.push_back(std::make_shared<file_part>(
      file_part{piece_.file, piece_.path, piece_.offset, piece_.first_line, piece_.text.size(),
                std::move(includes_), std::move(memory)}));
  }

  static std::vector<std::uint32_t> sorted(const std::vector<word_table::word>& words) {
    // Sorting the prefix together with the number keeps the comparisons out of the words.
    struct key {
      std::uint64_t prefix;
      std::uint32_t number;
    };
    std::vector<key> keys;
    keys.reserve(words.size());
    std::uint32_t number = 0;
    for (const auto& w : words) {
      keys.push_back({w.prefix, number++});
    }
    std::sort(keys.begin(), keys.end(), [&words](const key& a, const key& b) {
      if (a.prefix != b.prefix) {
        return a.prefix < b.prefix;
      }
      const auto& x = words[a.number];
      const auto& y = words[b.number];
      return compare_words(x.prefix, {x.text, x.length}, y.prefix, {y.text, y.length}) < 0;
    });
    std::vector<std::uint32_t> order;
    order.reserve(words.size());
    for (const key& k : keys) {
      order.push_back(k.number);
    }
    return order;
  }

  const text_piece& piece_;
  std::uint64_t base_; // lines before the piece
  std::uint32_t line_ = 1;
  word_table table_;
  std::vector<occurrence> occurrences_;
  std::vector<include_name> includes_;
  segment result_;
};

} // namespace

segment index_piece(basal::posse::member& m, const text_piece& piece) {
  return piece_indexer(piece).run(m);
}

} // namespace codesearch
