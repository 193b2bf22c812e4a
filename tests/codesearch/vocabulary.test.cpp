#include "support/catch.hpp"

#include "compute.hpp"
#include "text_samples.hpp"

#include "codesearch/piece_index.hpp"

#include <algorithm>

using namespace codesearch;
using namespace codesearch::test;

TEST_CASE("words compare as their bytes do, also beyond the eight that are kept as a number") {
  std::mt19937 random(3);
  std::vector<std::string> words = {"a", "aa", "abcdefgh", "abcdefgha", "abcdefghb", "Z", "_", "0"};
  for (int i = 0; i < 300; ++i) {
    std::string w(1 + random() % 12, 'a');
    for (char& c : w) {
      c = "abZ_09"[random() % 6];
    }
    words.push_back(w);
  }
  for (const std::string& a : words) {
    for (const std::string& b : words) {
      const int order = compare_words(word_prefix(a), a, word_prefix(b), b);
      REQUIRE((order < 0) == (a < b));
      REQUIRE((order == 0) == (a == b));
    }
  }
}

TEST_CASE("lower_bound, find and prefix runs agree with a sorted list") {
  std::mt19937 random(4);
  padded_texts texts;
  const stop_flag stop{false};
  // Several pieces, so that the merged vocabulary has several runs.
  plain_index expected;
  for (file_id f = 0; f < 6; ++f) {
    std::string text;
    for (int i = 0; i < 5000; ++i) {
      text += "w" + std::to_string(random() % 100'000) + " ";
    }
    add_plainly(expected, f, text);
    texts.add(f, text);
  }
  const segment s
    = compute([&](basal::posse::member& m) { return build_pieces(m, texts.pieces, stop); });
  REQUIRE(s.words.runs().size() > 1);
  std::vector<std::string> sorted;
  for (const auto& [word, lines] : expected) {
    sorted.push_back(word);
  }
  REQUIRE(s.words.size() == sorted.size());
  for (std::size_t i = 0; i < sorted.size(); i += 37) {
    CHECK(s.words[i].word() == sorted[i]);
  }
  for (int i = 0; i < 2000; ++i) {
    const std::string wanted = "w" + std::to_string(random() % 110'000);
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), wanted);
    REQUIRE(s.words.lower_bound(wanted) == static_cast<std::size_t>(at - sorted.begin()));
    REQUIRE((s.words.find(wanted) != nullptr) == (at != sorted.end() && *at == wanted));
  }
  CHECK(s.words.lower_bound("") == 0);
  CHECK(s.words.lower_bound("zzz") == s.words.size());

  std::size_t seen = 0;
  s.words.for_each_from(s.words.lower_bound("w12"), [&](const word_entry& e) {
    seen += e.word().starts_with("w12") ? 1 : 0;
    return e.word().starts_with("w12");
  });
  CHECK(
    seen
    == static_cast<std::size_t>(std::count_if(
      sorted.begin(), sorted.end(), [](const std::string& w) { return w.starts_with("w12"); })));
}

TEST_CASE("an empty vocabulary answers like any other") {
  const vocabulary none;
  CHECK(none.empty());
  CHECK(none.lower_bound("a") == 0);
  CHECK(none.find("a") == nullptr);
  none.for_each_from(0, [](const word_entry&) {
    FAIL("there is no word");
    return true;
  });
}
