#include "support/catch.hpp"

#include "compute.hpp"
#include "scratch_tree.hpp"
#include "text_samples.hpp"

#include "codesearch/file_reader.hpp"

#include <filesystem>
#include <map>

#include <sys/stat.h>
#include <unistd.h>

using namespace codesearch;
using namespace codesearch::test;
namespace fs = std::filesystem;

namespace {

const stop_flag go{false};

found_file as_found(file_id id, const std::string& path) {
  return {id, path, fs::file_size(path)};
}

// The yield of a task that is read to its end with one small buffer after another.
struct all_read {
  plain_index index;
  std::map<file_id, std::string> texts;
  skip_log skips;
  std::size_t batches = 0;
  std::size_t pieces = 0;
};

all_read read_all(std::vector<found_file> files, std::size_t buffer_bytes,
                  std::size_t limit = ~std::size_t{0}) {
  all_read result;
  read_task task{std::move(files), 0, nullptr};
  std::vector<segment> segments;
  compute([&](basal::posse::member& m) {
    while (!task.done()) {
      text_batch batch;
      batch.buffer = std::make_unique<text_buffer>(buffer_bytes);
      read_files(task, limit, batch, result.skips, go);
      ++result.batches;
      std::uint64_t bytes = 0;
      for (const text_piece& p : batch.pieces) {
        ++result.pieces;
        REQUIRE(p.offset == result.texts[p.file].size());
        result.texts[p.file] += p.text;
        bytes += p.text.size();
        REQUIRE(p.text.data() >= batch.buffer->data());
        REQUIRE(p.text.data() + p.text.size() + text_padding
                <= batch.buffer->data() + batch.buffer->size());
        for (std::size_t i = 0; i < text_padding; ++i) {
          REQUIRE(p.text.data()[p.text.size() + i] == 0);
        }
      }
      REQUIRE(batch.bytes == bytes);
      const segment s = build_pieces(m, batch.pieces, go);
      for (const auto& [word, places] : contents(s)) {
        result.index[word].insert(places.begin(), places.end());
      }
    }
    return 0;
  });
  return result;
}

} // namespace

TEST_CASE("small files share a buffer, and their texts arrive as they are") {
  const scratch_tree tree;
  std::mt19937 random(31);
  std::vector<found_file> files;
  std::map<file_id, std::string> expected;
  for (file_id f = 0; f < 200; ++f) {
    expected[f] = random_text(random, random() % 200);
    files.push_back(as_found(f, tree.write(std::to_string(f), expected[f])));
  }
  const all_read got = read_all(files, 1 << 16);
  CHECK(got.texts == expected);
  CHECK(got.batches < 60);
  CHECK(got.skips.losses() == 0);
  CHECK(read_all(files, 1 << 16, 5000).batches > got.batches);
}

TEST_CASE("a file of any size is read in pieces that know their lines and lose no word") {
  const scratch_tree tree;
  const auto seed = GENERATE(range(1u, 8u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  std::string text = random_text(random, 30'000);
  SECTION("with lines") {
  }
  SECTION("as one line") {
    std::replace(text.begin(), text.end(), '\n', ' ');
  }
  SECTION("with runs of word bytes longer than a buffer") {
    text.insert(text.size() / 2, 30'000, 'w');
    text.insert(10, 10'000, 'v');
  }
  SECTION("as one single run of word bytes") {
    text = std::string(50'000, 'u');
  }
  plain_index truth;
  add_plainly(truth, 5, text);
  const all_read got = read_all({as_found(5, tree.write("big", text))}, 5000);
  CHECK(got.pieces > 5);
  CHECK(got.texts.at(5) == text);
  CHECK(got.index == truth);
}

TEST_CASE("a large file between small ones is read in its turn") {
  const scratch_tree tree;
  std::string big;
  for (int i = 0; i < 5000; ++i) {
    big += "line " + std::to_string(i) + "\n";
  }
  const all_read got
    = read_all({as_found(0, tree.write("a", "first\n")), as_found(1, tree.write("b", big)),
                as_found(2, tree.write("c", "last\n"))},
               8192);
  CHECK(got.texts == std::map<file_id, std::string>{{0, "first\n"}, {1, big}, {2, "last\n"}});
}

TEST_CASE("files with a zero byte in their first 8 KiB are binary, later ones are not") {
  const scratch_tree tree;
  std::string early(9000, 'x');
  early[8191] = '\0';
  std::string late(9000, 'x');
  late[8192] = '\0';
  std::string large(40'000, 'y');
  large[100] = '\0';
  const all_read got
    = read_all({as_found(0, tree.write("early", early)), as_found(1, tree.write("late", late)),
                as_found(2, tree.write("large", large))},
               16'384);
  CHECK(got.skips.count(skip_reason::binary) == 2);
  CHECK(got.texts == std::map<file_id, std::string>{{1, late}});
}

TEST_CASE("files that vanished, became something else or are closed are skipped") {
  const scratch_tree tree;
  std::vector<found_file> files{
    as_found(0, tree.write("ok", "word\n")), as_found(1, tree.write("gone", "word\n")),
    as_found(2, tree.write("folder", "word\n")), as_found(3, tree.write("pipe", "word\n")),
    as_found(4, tree.write("closed", "word\n"))};
  fs::remove(tree.path("gone"));
  fs::remove(tree.path("folder"));
  fs::create_directory(tree.path("folder"));
  fs::remove(tree.path("pipe"));
  REQUIRE(::mkfifo(tree.path("pipe").c_str(), 0600) == 0);
  fs::permissions(tree.path("closed"), fs::perms::none);
  const all_read got = read_all(files, 8192);
  CHECK(got.texts.at(0) == "word\n");
  CHECK(got.skips.count(skip_reason::vanished) >= 2); // of the pipe nothing is left to read
  if (::geteuid() != 0) {
    CHECK(got.skips.count(skip_reason::not_permitted) == 1);
  }
}

TEST_CASE("a file that grew is read up to the size that the walk saw, and noted") {
  const scratch_tree tree;
  const auto small = as_found(0, tree.write("small", "one two\n"));
  const auto large = as_found(1, tree.write("large", std::string{"end\n"}.insert(0, 20'000, ' ')));
  tree.write("small", "one two\nthree\n");
  tree.write("large", std::string{"end\nmore\n"}.insert(0, 20'000, ' '));
  const all_read got = read_all({small, large}, 8192);
  CHECK(got.texts.at(0) == "one two\n");
  CHECK(got.texts.at(1).size() == 20'004);
  CHECK(got.skips.count(skip_reason::grew) == 2);
}

TEST_CASE("a file that shrank is read as it is") {
  const scratch_tree tree;
  const auto small = as_found(0, tree.write("small", "one two\n"));
  const auto large = as_found(1, tree.write("large", std::string(50'000, 'a')));
  tree.write("small", "one");
  tree.write("large", std::string{"end"}.insert(0, 9000, ' '));
  const all_read got = read_all({small, large}, 8192);
  CHECK(got.texts.at(0) == "one");
  CHECK(got.texts.at(1).size() == 9003);
  CHECK(got.index.count("end") == 1);
}

TEST_CASE("files of a system folder, which say size 0 and have text, are noted and end") {
  skip_log skips;
  read_task task{{{0, "/proc/self/status", 0}}, 0, nullptr};
  text_batch batch;
  batch.buffer = std::make_unique<text_buffer>(8192);
  read_files(task, 8192, batch, skips, go);
  CHECK(task.done());
  CHECK(skips.count(skip_reason::grew) == 1);
}

TEST_CASE("a raised flag ends the reading") {
  const scratch_tree tree;
  const stop_flag halt{true};
  read_task task{{as_found(0, tree.write("a", "x"))}, 0, nullptr};
  text_batch batch;
  batch.buffer = std::make_unique<text_buffer>(8192);
  skip_log skips;
  read_files(task, 8192, batch, skips, halt);
  CHECK_FALSE(task.done());
  CHECK(batch.pieces.empty());
}
