#pragma once

#include <basal/posse/member.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "posting.hpp"
#include "word_bytes.hpp"

namespace codesearch {

/// One word of an index and the chain of its postings. Sorts by the bytes of the word; the first
/// eight are kept as a number, which decides nearly every comparison without touching the text.
struct word_entry {
  std::uint64_t prefix;
  const char* text; ///< owned by a file_part
  std::uint32_t length;
  std::uint32_t postings; ///< in the chain, one per part of a file; at least one
  posting* first;
  posting* last;

  [[nodiscard]] std::string_view word() const noexcept {
    return {text, length};
  }
};

/// Below zero, zero or above as `a` sorts before, equal to or behind `b`.
[[nodiscard]] inline int compare_words(std::uint64_t a_prefix, std::string_view a,
                                       std::uint64_t b_prefix, std::string_view b) noexcept {
  if (a_prefix != b_prefix) {
    return a_prefix < b_prefix ? -1 : 1;
  }
  // Words hold no zero bytes, so equal prefixes of which one is short mean equal words.
  if (a.size() <= 8 || b.size() <= 8) {
    return static_cast<int>(a.size() > 8) - static_cast<int>(b.size() > 8);
  }
  return a.substr(8).compare(b.substr(8));
}

[[nodiscard]] inline int compare_words(const word_entry& a, const word_entry& b) noexcept {
  return compare_words(a.prefix, a.word(), b.prefix, b.word());
}

/// A sorted sequence of words without duplicates, held in runs of a few thousand entries, so that
/// the parts of a parallel merge are strung together without being copied. Immutable once built;
/// any number of threads may read it.
class vocabulary {
public:
  struct run {
    std::unique_ptr<word_entry[]> entries;
    std::size_t size = 0;
  };

  vocabulary() = default;

  /// Takes over runs that are sorted, each in itself and one after the other. Drops empty ones.
  explicit vocabulary(std::vector<run> runs);

  /// Number of words.
  [[nodiscard]] std::size_t size() const noexcept {
    return size_;
  }

  [[nodiscard]] bool empty() const noexcept {
    return size_ == 0;
  }

  /// The word at `index` (below `size()`); logarithmic in the number of runs.
  [[nodiscard]] const word_entry& operator[](std::size_t index) const noexcept;

  /// Index of the first word that does not sort before `word`; `size()` if all do.
  [[nodiscard]] std::size_t lower_bound(std::string_view word) const noexcept {
    return lower_bound(word_prefix(word), word);
  }

  [[nodiscard]] std::size_t lower_bound(std::uint64_t prefix, std::string_view word) const noexcept;

  /// The entry of `word`; null if it is not there.
  [[nodiscard]] const word_entry* find(std::string_view word) const noexcept;

  /// Calls `f(const word_entry&)` for the words at `first` and after it, while it returns true.
  template <class F>
  void for_each_from(std::size_t first, F&& f) const {
    if (first >= size_) {
      return;
    }
    std::size_t r = run_of(first);
    std::size_t i = first - starts_[r];
    for (; r < runs_.size(); ++r, i = 0) {
      for (; i < runs_[r].size; ++i) {
        if (!f(runs_[r].entries[i])) {
          return;
        }
      }
    }
  }

  [[nodiscard]] const std::vector<run>& runs() const noexcept {
    return runs_;
  }

  /// Number of the run that holds the word at `index` (below `size()`).
  [[nodiscard]] std::size_t run_of(std::size_t index) const noexcept;

  /// Index of the first word of run `r`.
  [[nodiscard]] std::size_t start_of(std::size_t r) const noexcept {
    return starts_[r];
  }

private:
  std::vector<run> runs_;
  std::vector<std::size_t> starts_;
  std::size_t size_ = 0;
};

/// All words of both sides; the chain of a common word is the left side's chain followed by the
/// right side's. Forks by key range, so that two large vocabularies merge on several executors.
/// Links chains in place: either side may still be read, and neither may be merged again.
[[nodiscard]] vocabulary merge_vocabularies(basal::posse::member& m, const vocabulary& left,
                                            const vocabulary& right);

} // namespace codesearch
