// How often each word occurs in a text of 40,000 words, by blocks of 500: hash
// maps that allocate, and are not cheap to add.

#include "bench/posse/block_sums.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

using namespace basal;

using word_counts = std::unordered_map<std::string_view, long>;

struct text {
  std::vector<std::string> blocks;
  long words = 0;

  // Word k is written about 1/k as often as the first one.
  void make(std::size_t n, std::size_t words_a_block) {
    std::uint64_t random = 1;
    blocks.resize(n);
    for (auto& block : blocks)
      for (std::size_t i = 0; i < words_a_block; ++i) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        block += "word" + std::to_string(2'000'000 / (1 + (random >> 33) % 1'000'000));
        block += i % 10 == 9 ? '\n' : ' ';
        ++words;
      }
  }
};

word_counts count_words(std::string_view block) {
  word_counts counts;
  for (std::size_t at = 0; at < block.size();) {
    const auto end = block.find_first_of(" \n", at);
    ++counts[block.substr(at, end - at)];
    at = end + 1;
  }
  return counts;
}

void add_counts(word_counts& sum, const word_counts& more) {
  for (const auto& [word, count] : more)
    sum[word] += count;
}

const bench::suite word_suite{[](bench::plan& plan) {
  constexpr std::size_t blocks = 80;
  constexpr std::size_t words_a_block = 500;
  auto t = std::make_shared<text>();
  bench::program<bool> program{plan, "word_count", std::to_string(blocks * words_a_block), true};
  auto expected = std::make_shared<std::size_t>(0); // different words
  program.setup([=] {
    if (!t->blocks.empty())
      return;
    t->make(blocks, words_a_block);
    word_counts all;
    for (const auto& block : t->blocks)
      add_counts(all, count_words(block));
    *expected = all.size();
  });
  bench::add_block_sum_cases<word_counts>(
    program, blocks, [=](std::size_t block) { return count_words(t->blocks[block]); },
    [](word_counts& sum, const word_counts& more) { add_counts(sum, more); },
    [=](const word_counts& counts) {
      long words = 0;
      for (const auto& [word, count] : counts)
        words += count;
      return words == t->words && counts.size() == *expected;
    });
}};

} // namespace
