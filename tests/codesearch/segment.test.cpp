#include "support/catch.hpp"

#include "compute.hpp"
#include "text_samples.hpp"

#include <memory>

using namespace codesearch;
using namespace codesearch::test;

namespace {

using member = basal::posse::member;

struct texts_and_truth {
  padded_texts texts;
  plain_index truth;
};

texts_and_truth some_texts(unsigned seed, std::size_t files, std::size_t most_tokens) {
  texts_and_truth result;
  std::mt19937 random(seed);
  for (file_id f = 0; f < files; ++f) {
    const std::string text = random_text(random, random() % most_tokens);
    add_plainly(result.truth, f, text);
    result.texts.add(f, text);
  }
  return result;
}

// Files in the order of the chain of one word.
std::vector<file_id> files_of(const word_entry& e) {
  std::vector<file_id> files;
  for (const posting* p = e.first;; p = p->next) {
    files.push_back(p->file);
    if (p == e.last) {
      return files;
    }
  }
}

const stop_flag go{false};

} // namespace

TEST_CASE("the index of many files holds what a plain reading finds, on 1 and on 2 executors") {
  const auto executors = GENERATE(std::size_t{1}, std::size_t{2});
  const auto seed = GENERATE(range(1u, 6u));
  CAPTURE(executors, seed);
  const auto [texts, truth] = some_texts(seed, 200, 800);
  const segment s
    = compute([&, &all = texts](member& m) { return build_pieces(m, all.pieces, go); }, executors);
  CHECK(contents(s) == truth);
  CHECK(is_ordered(s.words));
  CHECK(s.parts.size() == 200);
}

TEST_CASE("postings of a word are chained in the order of the files") {
  const auto [texts, truth] = some_texts(11, 100, 300);
  const segment s
    = compute([&, &all = texts](member& m) { return build_pieces(m, all.pieces, go); }, 2);
  s.words.for_each_from(0, [](const word_entry& e) {
    const auto files = files_of(e);
    CHECK(std::is_sorted(files.begin(), files.end()));
    return true;
  });
}

TEST_CASE("merging is associative") {
  const auto build = [](member& m, padded_texts& texts, std::size_t first, std::size_t count) {
    return build_pieces(m, std::span(texts.pieces).subspan(first, count), go);
  };
  auto [texts, truth] = some_texts(12, 9, 2000);
  const auto [left, right] = compute([&, &given = texts](member& m) {
    segment ab = merge_segments(m, build(m, given, 0, 3), build(m, given, 3, 3));
    segment ab_c = merge_segments(m, std::move(ab), build(m, given, 6, 3));
    segment bc = merge_segments(m, build(m, given, 3, 3), build(m, given, 6, 3));
    segment a_bc = merge_segments(m, build(m, given, 0, 3), std::move(bc));
    return std::pair(std::move(ab_c), std::move(a_bc));
  });
  CHECK(contents(left) == truth);
  CHECK(contents(right) == truth);
  REQUIRE(left.words.size() == right.words.size());
  for (std::size_t i = 0; i < left.words.size(); ++i) {
    REQUIRE(files_of(left.words[i]) == files_of(right.words[i]));
  }
  CHECK(left.totals.postings == right.totals.postings);
}

TEST_CASE("a segment reads the same before, during and after its merge") {
  const auto [texts, truth] = some_texts(13, 2, 3000);
  compute([&, &given = texts](member& m) {
    const segment a = build_piece(m, given.pieces[0], go);
    const segment b = build_piece(m, given.pieces[1], go);
    const plain_index a_before = contents(a);
    const plain_index b_before = contents(b);
    const segment ab = merge_segments(m, a, b);
    CHECK(contents(a) == a_before);
    CHECK(contents(b) == b_before);
    return 0;
  });
}

TEST_CASE("merging with nothing changes nothing") {
  const auto [texts, truth] = some_texts(14, 5, 500);
  const auto merged = compute([&, &given = texts](member& m) {
    segment left = merge_segments(m, segment{}, build_pieces(m, given.pieces, go));
    segment right = merge_segments(m, build_pieces(m, given.pieces, go), segment{});
    return std::pair(std::move(left), std::move(right));
  });
  CHECK(contents(merged.first) == truth);
  CHECK(contents(merged.second) == truth);
}

TEST_CASE("merge_all puts any number of segments together") {
  for (const std::size_t count : {0u, 1u, 2u, 3u, 7u, 16u}) {
    const auto [texts, truth] = some_texts(15, count, 400);
    const segment all = compute([&, &given = texts](member& m) {
      std::vector<std::shared_ptr<const segment>> segments;
      for (const text_piece& p : given.pieces) {
        segments.push_back(std::make_shared<const segment>(build_piece(m, p, go)));
      }
      return merge_all(m, segments, go);
    });
    CHECK(contents(all) == truth);
    CHECK(all.parts.size() == count);
  }
}

TEST_CASE("a large text is cut and has the same words on the same lines") {
  std::mt19937 random(16);
  std::string text = random_text(random, 1'200'000);
  REQUIRE(text.size() > (std::size_t{9} << 20));
  SECTION("with lines") {
  }
  SECTION("as one single line") {
    std::replace(text.begin(), text.end(), '\n', ' ');
  }
  SECTION("with a line that takes up nearly all of it") {
    std::replace(text.begin() + 100, text.end() - 100, '\n', ' ');
  }
  plain_index truth;
  add_plainly(truth, 0, text);
  padded_texts texts;
  texts.add(0, text);
  const segment s = compute([&](member& m) { return build_piece(m, texts.pieces[0], go); }, 2);
  CHECK(s.parts.size() > 4);
  CHECK(contents(s) == truth);
  CHECK(s.totals.bytes == text.size());
}

TEST_CASE("a hundred thousand empty files are no deep recursion") {
  padded_texts texts;
  for (file_id f = 0; f < 100'000; ++f) {
    texts.add(f, f % 10'000 == 0 ? "word\n" : "");
  }
  const segment s = compute([&](member& m) { return build_pieces(m, texts.pieces, go); }, 2);
  REQUIRE(s.words.size() == 1);
  CHECK(s.words[0].postings == 10);
  CHECK(s.parts.size() == 100'000);
}

TEST_CASE("a raised flag stops the work") {
  const stop_flag halt{true};
  const auto [texts, truth] = some_texts(17, 3, 10);
  CHECK_THROWS_AS(
    compute([&, &given = texts](member& m) { return build_pieces(m, given.pieces, halt); }),
    stopped);
}
