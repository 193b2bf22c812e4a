#include "vocabulary.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace codesearch {

namespace {

// About 100 us of merging: below a quantum, so that one piece is never worth stealing in part.
constexpr std::size_t leaf_entries = 4096;

struct range {
  const vocabulary* words;
  std::size_t first;
  std::size_t last;

  [[nodiscard]] std::size_t size() const noexcept {
    return last - first;
  }
};

// Walks the entries of a range across its runs.
class reader {
public:
  explicit reader(const range& r) noexcept : left_(r.size()), words_(r.words) {
    if (left_ > 0) {
      run_ = words_->run_of(r.first);
      open(r.first - words_->start_of(run_));
    }
  }

  [[nodiscard]] bool done() const noexcept {
    return at_ == nullptr;
  }

  [[nodiscard]] const word_entry& operator*() const noexcept {
    return *at_;
  }

  void next() noexcept {
    if (++at_ == end_) {
      if (left_ == 0) {
        at_ = nullptr;
      } else {
        ++run_;
        open(0);
      }
    }
  }

  word_entry* copy_rest(word_entry* out) noexcept {
    while (!done()) {
      out = std::copy(at_, end_, out);
      at_ = end_ - 1;
      next();
    }
    return out;
  }

private:
  void open(std::size_t offset) noexcept {
    const auto& run = words_->runs()[run_];
    const std::size_t take = std::min(left_, run.size - offset);
    at_ = run.entries.get() + offset;
    end_ = at_ + take;
    left_ -= take;
  }

  const word_entry* at_ = nullptr;
  const word_entry* end_ = nullptr;
  std::size_t left_; // entries behind end_
  std::size_t run_ = 0;
  const vocabulary* words_;
};

std::vector<vocabulary::run> merge_leaf(const range& left, const range& right) {
  vocabulary::run out;
  out.entries = std::make_unique_for_overwrite<word_entry[]>(left.size() + right.size());
  word_entry* to = out.entries.get();
  reader a(left);
  reader b(right);
  while (!a.done() && !b.done()) {
    const int order = compare_words(*a, *b);
    if (order < 0) {
      *to++ = *a;
      a.next();
    } else if (order > 0) {
      *to++ = *b;
      b.next();
    } else {
      *to = *a;
      to->last->next = (*b).first;
      to->last = (*b).last;
      to->postings += (*b).postings;
      ++to;
      a.next();
      b.next();
    }
  }
  to = b.copy_rest(a.copy_rest(to));
  out.size = static_cast<std::size_t>(to - out.entries.get());
  std::vector<vocabulary::run> runs;
  runs.push_back(std::move(out));
  return runs;
}

std::vector<vocabulary::run> merge_ranges(basal::posse::member& m, range left, range right) {
  if (left.size() + right.size() <= leaf_entries) {
    return merge_leaf(left, right);
  }
  // Cut the longer side in the middle and the other one at the same word.
  range& longer = left.size() >= right.size() ? left : right;
  range& other = &longer == &left ? right : left;
  const std::size_t middle = longer.first + longer.size() / 2;
  const word_entry& cut = (*longer.words)[middle];
  const std::size_t other_middle
    = std::clamp(other.words->lower_bound(cut.prefix, cut.word()), other.first, other.last);
  const std::size_t left_cut = &longer == &left ? middle : other_middle;
  const std::size_t right_cut = &longer == &left ? other_middle : middle;
  auto [low, high] = m.fork_merge(
    [&](basal::posse::member& branch) {
      return merge_ranges(branch, {left.words, left.first, left_cut},
                          {right.words, right.first, right_cut});
    },
    [&](basal::posse::member& branch) {
      return merge_ranges(branch, {left.words, left_cut, left.last},
                          {right.words, right_cut, right.last});
    });
  low.insert(low.end(), std::make_move_iterator(high.begin()), std::make_move_iterator(high.end()));
  return std::move(low);
}

} // namespace

vocabulary::vocabulary(std::vector<run> runs) : runs_(std::move(runs)) {
  std::erase_if(runs_, [](const run& r) { return r.size == 0; });
  starts_.reserve(runs_.size());
  for (const run& r : runs_) {
    starts_.push_back(size_);
    size_ += r.size;
  }
}

std::size_t vocabulary::run_of(std::size_t index) const noexcept {
  const auto behind = std::upper_bound(starts_.begin(), starts_.end(), index);
  return static_cast<std::size_t>(behind - starts_.begin()) - 1;
}

const word_entry& vocabulary::operator[](std::size_t index) const noexcept {
  const std::size_t r = run_of(index);
  return runs_[r].entries[index - starts_[r]];
}

std::size_t vocabulary::lower_bound(std::uint64_t prefix, std::string_view word) const noexcept {
  const auto before
    = [&](const word_entry& e) { return compare_words(e.prefix, e.word(), prefix, word) < 0; };
  // The run to look in is the last one that starts before the word.
  const auto behind = std::partition_point(runs_.begin(), runs_.end(),
                                           [&](const run& r) { return before(r.entries[0]); });
  if (behind == runs_.begin()) {
    return 0;
  }
  const auto r = static_cast<std::size_t>(behind - runs_.begin()) - 1;
  const word_entry* first = runs_[r].entries.get();
  return starts_[r]
         + static_cast<std::size_t>(std::partition_point(first, first + runs_[r].size, before)
                                    - first);
}

const word_entry* vocabulary::find(std::string_view word) const noexcept {
  const std::size_t at = lower_bound(word);
  if (at == size_) {
    return nullptr;
  }
  const word_entry& e = (*this)[at];
  return e.word() == word ? &e : nullptr;
}

vocabulary merge_vocabularies(basal::posse::member& m, const vocabulary& left,
                              const vocabulary& right) {
  return vocabulary(merge_ranges(m, {&left, 0, left.size()}, {&right, 0, right.size()}));
}

} // namespace codesearch
