#include "support/catch.hpp"

#include <random>
#include <vector>

#include "codesearch/merge_policy.hpp"

using namespace codesearch;

namespace {

using sizes = std::vector<std::size_t>;

// Adds segments of the given sizes one after the other and merges while there is a pair. Counts
// how often words are copied.
struct simulated_index {
  sizes segments;
  std::size_t copied = 0;

  void add(std::size_t words) {
    segments.push_back(words);
    while (const auto pair = choose_merge(segments)) {
      const std::size_t merged = segments[pair->first] + segments[pair->second];
      copied += merged;
      const auto [low, high] = std::minmax(pair->first, pair->second);
      segments.erase(segments.begin() + static_cast<std::ptrdiff_t>(high));
      segments.erase(segments.begin() + static_cast<std::ptrdiff_t>(low));
      segments.push_back(merged);
    }
  }
};

} // namespace

TEST_CASE("the smallest similar pair is chosen") {
  CHECK_FALSE(choose_merge(sizes{}));
  CHECK_FALSE(choose_merge(sizes{5}));
  CHECK_FALSE(choose_merge(sizes{1, 3, 7, 15, 31}));
  CHECK(choose_merge(sizes{100, 10, 90, 19}) == std::pair<std::size_t, std::size_t>(1, 3));
  CHECK(choose_merge(sizes{100, 10, 90, 21}) == std::pair<std::size_t, std::size_t>(2, 0));
  CHECK(choose_merge(sizes{0, 0}) == std::pair<std::size_t, std::size_t>(0, 1));
}

TEST_CASE("few segments are left, and each word is copied a logarithmic number of times") {
  std::mt19937 random(5);
  simulated_index index;
  std::size_t words = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::size_t added = 1 + random() % 1000;
    words += added;
    index.add(added);
  }
  // 10,000 segments of 500 words are 2^22 words: at most one segment for each power of two, and
  // each copy of a word at least multiplies its segment by 1.5.
  CHECK(index.segments.size() <= 23);
  CHECK(index.copied / words <= 38);
}
