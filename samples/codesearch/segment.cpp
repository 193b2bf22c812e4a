#include "segment.hpp"

#include <iterator>
#include <utility>

namespace codesearch {

segment merge_segments(basal::posse::member& m, segment&& left, segment&& right) {
  segment result;
  result.words = merge_vocabularies(m, left.words, right.words);
  result.parts = std::move(left.parts);
  result.parts.insert(result.parts.end(), std::make_move_iterator(right.parts.begin()),
                      std::make_move_iterator(right.parts.end()));
  result.totals = left.totals;
  result.totals += right.totals;
  return result;
}

segment merge_segments(basal::posse::member& m, const segment& left, const segment& right) {
  segment result;
  result.words = merge_vocabularies(m, left.words, right.words);
  result.parts.reserve(left.parts.size() + right.parts.size());
  result.parts = left.parts;
  result.parts.insert(result.parts.end(), right.parts.begin(), right.parts.end());
  result.totals = left.totals;
  result.totals += right.totals;
  return result;
}

} // namespace codesearch
