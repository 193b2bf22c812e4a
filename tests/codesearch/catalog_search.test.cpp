#include "support/catch.hpp"

#include "compute.hpp"
#include "text_samples.hpp"

#include "codesearch/search.hpp"

#include <algorithm>
#include <memory>

using namespace codesearch;
using namespace codesearch::test;

namespace {

const stop_flag go{false};

// An index of `texts` in `segments` segments.
catalog indexed(const std::vector<text_piece>& pieces, std::size_t segments) {
  return compute([&](basal::posse::member& m) {
    std::vector<segment_ptr> parts;
    const std::size_t each = pieces.size() / segments + 1;
    for (std::size_t first = 0; first < pieces.size(); first += each) {
      parts.push_back(std::make_shared<const segment>(build_pieces(
        m, std::span(pieces).subspan(first, std::min(each, pieces.size() - first)), go)));
    }
    return catalog(std::move(parts));
  });
}

found ask(const catalog& files, std::string_view text, std::size_t top = 0,
          const file_ranks& ranks = {}) {
  const parsed_query q = parse_query(text);
  REQUIRE(q);
  return compute([&](basal::posse::member& m) { return search(m, files, ranks, q.value, top); });
}

std::vector<file_id> files_of(const found& f) {
  std::vector<file_id> ids;
  for (const hit& h : f.hits) {
    ids.push_back(h.file);
  }
  return ids;
}

} // namespace

TEST_CASE("answers are the files that hold all words, as a plain reading finds them") {
  std::mt19937 random(21);
  padded_texts texts;
  plain_index truth;
  for (file_id f = 0; f < 120; ++f) {
    std::string text;
    for (int i = 0; i < 60; ++i) {
      text += "w" + std::to_string(random() % 200) + (random() % 4 == 0 ? "\n" : " ");
    }
    add_plainly(truth, f, text);
    texts.add(f, text);
  }
  const std::size_t segments = GENERATE(std::size_t{1}, std::size_t{5});
  const catalog all = indexed(texts.pieces, segments);
  REQUIRE(all.size() == 120);
  const auto holders = [&](const std::string& word, bool prefix) {
    std::set<file_id> ids;
    for (const auto& [w, places] : truth) {
      if (prefix ? w.starts_with(word) : w == word) {
        for (const auto& [file, line] : places) {
          ids.insert(file);
        }
      }
    }
    return ids;
  };
  for (int i = 0; i < 60; ++i) {
    const std::string a = "w" + std::to_string(random() % 200);
    const std::string b = "w" + std::to_string(random() % 20);
    const std::set<file_id> in_a = holders(a, false);
    const std::set<file_id> in_b = holders(b, true);
    std::set<file_id> both;
    std::set_intersection(in_a.begin(), in_a.end(), in_b.begin(), in_b.end(),
                          std::inserter(both, both.end()));
    const found got = ask(all, a + " " + b + "*");
    const auto ids = files_of(got);
    CHECK(std::set<file_id>(ids.begin(), ids.end()) == both);
    CHECK(ids.size() == both.size());
    CHECK(got.matches == both.size());
    for (const hit& h : got.hits) {
      const auto& places = truth[a];
      const bool a_on_line = places.count({h.file, h.line}) > 0;
      bool b_on_line = false;
      for (const auto& [w, where] : truth) {
        b_on_line = b_on_line || (w.starts_with(b) && where.count({h.file, h.line}) > 0);
      }
      CHECK((a_on_line || b_on_line));
    }
  }
}

TEST_CASE("the line shown is the first of those with the most words") {
  padded_texts texts;
  texts.add(0, "socket\nbind\nx socket y bind\nsocket bind\n");
  const found got = ask(indexed(texts.pieces, 1), "bind socket");
  REQUIRE(got.hits.size() == 1);
  CHECK(got.hits[0].line == 3);
}

TEST_CASE("files rank by how often they have the words, by their include rank, by their name") {
  padded_texts texts;
  texts.add(0, "word\n").path = "/a/x.h";
  texts.add(1, "word\nword\nword\n").path = "/a/y.h";
  texts.add(2, "word\n").path = "/a/z.h";
  const catalog all = indexed(texts.pieces, 1);
  CHECK(files_of(ask(all, "word")) == std::vector<file_id>{1, 0, 2});
  CHECK(files_of(ask(all, "word", 0, {0.2, 0.2, 50.0})) == std::vector<file_id>{2, 1, 0});
  // A rank that was computed before file 2 came: it counts as average.
  CHECK(files_of(ask(all, "word", 0, {0.1, 0.1})) == std::vector<file_id>{1, 2, 0});
  texts.add(3, "word\n").path = "/a/word.hpp";
  const catalog more = indexed(texts.pieces, 1);
  CHECK(files_of(ask(more, "word", 0, {1, 0.1, 1, 1})).front() == 3);
}

TEST_CASE("the top files are the first of all files") {
  std::mt19937 random(22);
  padded_texts texts;
  file_ranks ranks;
  for (file_id f = 0; f < 50; ++f) {
    std::string text;
    for (std::size_t i = 1 + random() % 5; i > 0; --i) {
      text += "word\n";
    }
    texts.add(f, text);
    ranks.push_back(static_cast<double>(random() % 4));
  }
  const catalog all = indexed(texts.pieces, 3);
  const auto everything = files_of(ask(all, "word", 0, ranks));
  REQUIRE(everything.size() == 50);
  for (const std::size_t top : {1u, 7u, 50u, 90u}) {
    const found got = ask(all, "word", top, ranks);
    CHECK(got.matches == 50);
    CHECK(files_of(got)
          == std::vector(everything.begin(),
                         everything.begin()
                           + static_cast<std::ptrdiff_t>(std::min<std::size_t>(top, 50))));
  }
}

TEST_CASE("an empty index and words that no file has give no answers") {
  CHECK(ask(catalog{}, "word").matches == 0);
  padded_texts texts;
  texts.add(0, "one two\n");
  const catalog all = indexed(texts.pieces, 1);
  CHECK(ask(all, "three").hits.empty());
  CHECK(ask(all, "one three").hits.empty());
  CHECK(ask(all, "thr*").hits.empty());
  CHECK(ask(all, "On*").hits.empty());
}

TEST_CASE("the parts of a file that was read in pieces are one file") {
  padded_texts texts;
  texts.add(4, "word a\n", 1).path = "big";
  auto& second = texts.add(4, "b word\nword\n", 2);
  second.path = "big";
  second.offset = 7;
  texts.add(9, "word\n");
  // The later part comes first, as it may when segments are merged as they come.
  std::swap(texts.pieces[0], texts.pieces[1]);
  const catalog all = indexed(texts.pieces, 1);
  REQUIRE(all.size() == 2);
  CHECK(all.parts(all.index_of(4)).size() == 2);
  CHECK(all.parts(all.index_of(4))[0]->offset == 0);
  CHECK(all.path(all.index_of(9)) == "file9");
  CHECK(ask(all, "word").matches == 2);
  const found got = ask(all, "b a");
  REQUIRE(got.hits.size() == 1);
  CHECK(got.hits[0].line == 1);
}
