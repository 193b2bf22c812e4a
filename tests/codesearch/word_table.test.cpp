#include "support/catch.hpp"

#include <map>
#include <random>
#include <string>
#include <vector>

#include "codesearch/word_table.hpp"

using namespace codesearch;

TEST_CASE("numbers are dense, in the order of first appearance, and the same for the same word") {
  std::mt19937 random(1);
  word_table table(0);
  std::map<std::string, std::uint32_t> expected;
  std::vector<std::string> keep; // the table refers to the words where they lie
  keep.reserve(20'000);
  for (int i = 0; i < 20'000; ++i) {
    std::string word = "w" + std::to_string(random() % 5000);
    word.append(random() % 3 * 7, 'y');
    const auto length = static_cast<std::uint32_t>(word.size());
    keep.push_back(word + std::string(8, '\0'));
    const std::uint32_t number = table.find_or_add(keep.back().data(), length);
    const auto [at, added] = expected.emplace(word, static_cast<std::uint32_t>(expected.size()));
    REQUIRE(number == at->second);
  }
  CHECK(table.words().size() == expected.size());
}

TEST_CASE("words that differ in one byte only are different words") {
  // Around the eight bytes that are compared as one number, and at the ends of the hash's steps.
  for (const std::size_t length : {1u, 2u, 7u, 8u, 9u, 15u, 16u, 17u, 23u, 24u, 25u, 100u}) {
    word_table table(0);
    std::vector<std::string> words;
    words.push_back(std::string(length, 'a'));
    for (std::size_t i = 0; i < length; ++i) {
      words.push_back(words.front());
      words.back()[i] = 'b';
    }
    words.push_back(std::string(length + 1, 'a'));
    for (std::string& w : words) {
      w.append(8, '\0');
    }
    std::uint32_t next = 0;
    for (const std::string& w : words) {
      CHECK(table.find_or_add(w.data(), static_cast<std::uint32_t>(w.size() - 8)) == next++);
    }
  }
}

TEST_CASE("what lies behind a word does not count") {
  word_table table(0);
  CHECK(table.find_or_add("abc=1234567", 3) == 0);
  CHECK(table.find_or_add("abc;zzzzzzz", 3) == 0);
  CHECK(table.find_or_add("abcdefghi;zzzzzzzz", 9) == 1);
  CHECK(table.find_or_add("abcdefghi=12345678", 9) == 1);
}
