#include "word_table.hpp"

#include <algorithm>
#include <bit>

namespace codesearch {

namespace {

// Source text has a new word about every 40 bytes in small files, fewer in large ones. A quarter
// full at that rate: short probes, and the table of a 10 KB file stays in the first-level cache.
constexpr std::size_t text_bytes_per_slot = 12;
constexpr std::size_t fewest_slots = 64;
constexpr std::size_t most_slots_at_first = std::size_t{1} << 16;

} // namespace

word_table::word_table(std::size_t text_bytes) {
  const std::size_t slots = std::bit_ceil(
    std::clamp(text_bytes / text_bytes_per_slot, fewest_slots, most_slots_at_first));
  slots_ = std::make_unique<slot[]>(slots);
  mask_ = slots - 1;
  shift_ = 32u - static_cast<unsigned>(std::countr_zero(slots));
  words_before_growth_ = slots / 2;
  words_.reserve(slots / 4);
}

std::uint32_t word_table::add(slot& s, const word& w) {
  words_.push_back(w);
  const auto number = static_cast<std::uint32_t>(words_.size());
  s = slot{w.hash, number};
  if (number >= words_before_growth_) {
    grow();
  }
  return number - 1;
}

void word_table::grow() {
  const std::size_t slots = 2 * (mask_ + 1);
  slots_ = std::make_unique<slot[]>(slots);
  mask_ = slots - 1;
  --shift_;
  words_before_growth_ = slots / 2;
  std::uint32_t number = 0;
  for (const word& w : words_) {
    std::size_t at = w.hash >> shift_;
    while (slots_[at].number != 0) {
      at = (at + 1) & mask_;
    }
    slots_[at] = slot{w.hash, ++number};
  }
}

} // namespace codesearch
