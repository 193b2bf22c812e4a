#include "support/catch.hpp"

#include "compute.hpp"
#include "text_samples.hpp"

#include "codesearch/piece_index.hpp"

using namespace codesearch;
using namespace codesearch::test;

namespace {

segment index_alone(const text_piece& piece) {
  return compute([&](basal::posse::member& m) { return index_piece(m, piece); });
}

segment index_alone(std::string_view text) {
  padded_texts texts;
  return index_alone(texts.add(0, text));
}

} // namespace

TEST_CASE("a piece's index holds what a byte by byte reading finds") {
  const auto seed = GENERATE(range(1u, 40u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  const std::string text = random_text(random, 1 + random() % 5000);
  plain_index expected;
  add_plainly(expected, 7, text);
  padded_texts texts;
  const segment s = index_alone(texts.add(7, text));
  CHECK(contents(s) == expected);
  CHECK(is_ordered(s.words));
  CHECK(s.words.size() == expected.size());
  std::size_t postings = 0;
  for (const auto& [word, lines] : expected) {
    postings += lines.size();
  }
  CHECK(s.totals.postings == postings);
  CHECK(s.totals.bytes == text.size());
  CHECK(s.totals.lines == static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n')));
}

TEST_CASE("texts without a word give an empty vocabulary") {
  for (const std::string_view text : {"", "\n", "\n\n\n", "\xFF\xFE", " \t ", "+-*/"}) {
    const segment s = index_alone(text);
    CHECK(s.words.empty());
    CHECK(s.parts.size() == 1);
  }
}

TEST_CASE("a word at the very end, with and without newline, is found") {
  for (const std::string_view text : {"int last", "int last\n"}) {
    const segment s = index_alone(text);
    REQUIRE(s.words.size() == 2);
    CHECK(s.words[1].word() == "last");
  }
}

TEST_CASE("words of up to 1024 bytes are indexed, longer runs are counted") {
  const std::string fits(longest_word_bytes, 'x');
  const std::string too_long(longest_word_bytes + 1, 'x');
  const segment s = index_alone(fits + " " + too_long + " end");
  REQUIRE(s.words.size() == 2);
  CHECK(s.words[1].word() == fits);
  CHECK(s.totals.long_words == 1);
  CHECK(s.totals.tokens == 3);
}

TEST_CASE("bytes above 127 separate words, as in grep -w in the C locale") {
  const segment s = index_alone("na\xC3\xAFve \xFF"
                                "word\xFE");
  REQUIRE(s.words.size() == 3);
  CHECK(s.words[0].word() == "na");
  CHECK(s.words[1].word() == "ve");
  CHECK(s.words[2].word() == "word");
}

TEST_CASE("line numbers go on from the piece's first line") {
  padded_texts texts;
  const segment s = index_alone(texts.add(3, "one\ntwo one\n", 1'000'000'000'000));
  CHECK(contents(s)
        == plain_index{{"one", {{3, 1'000'000'000'000}, {3, 1'000'000'000'001}}},
                       {"two", {{3, 1'000'000'000'001}}}});
}

TEST_CASE("a piece that starts inside a word does not index the rest of that word") {
  padded_texts texts;
  const segment s = index_alone(texts.add(0, "tail next\nline", 5, true));
  CHECK(contents(s) == plain_index{{"next", {{0, 5}}}, {"line", {{0, 6}}}});
  const segment all = index_alone(texts.add(0, "onlytail", 5, true));
  CHECK(all.words.empty());
}

TEST_CASE("include directives and imports are noted") {
  const segment s = index_alone("#include <a/b.h>\n"
                                "  #  include \"c.h\" // why\n"
                                "x #include <not.h>\n"
                                "#includes <not.h>\n"
                                "import d.e;\n");
  REQUIRE(s.parts.size() == 1);
  CHECK(s.parts[0]->includes
        == std::vector<include_name>{{"a/b.h", false}, {"c.h", false}, {"d/e", true}});
}

TEST_CASE("a million distinct words, more than the table expects, are all found") {
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) {
    text += std::to_string(i) + (i % 10 == 0 ? '\n' : ' ');
  }
  const segment s = index_alone(text);
  CHECK(s.words.size() == 1'000'000);
  CHECK(s.words.find("999999") != nullptr);
  CHECK(s.words.find("1000000") == nullptr);
  CHECK(is_ordered(s.words));
}
