#include "support/catch.hpp"

#include "run_program.hpp"
#include "scratch_tree.hpp"
#include "text_samples.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace codesearch::test;
namespace fs = std::filesystem;

// The promise: a word's files are those that grep -rlw finds.

namespace {

using file_set = std::set<std::string>;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Binary files, as codesearch documents them; grep searches them all the same.
bool is_binary(const std::string& path) {
  return read_file(path).substr(0, 8192).find('\0') != std::string::npos;
}

// `count` different words of the files below `root`, drawn by the same dice in every run: half of
// them by position in the text, which prefers frequent words, half of them by word.
std::vector<std::string> draw_words(const std::string& root, std::size_t count) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.is_regular_file() && !entry.is_symlink() && !is_binary(entry.path())) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::mt19937 random(20260101);
  std::set<std::string> drawn;
  for (std::size_t tries = 0; drawn.size() < count && tries < 100 * count; ++tries) {
    plain_index words;
    const std::string text = read_file(files[random() % files.size()]);
    if (text.empty()) {
      continue;
    }
    if (tries % 2 == 0) {
      // The words of one line, since a part of a line could begin or end inside a word.
      const std::size_t at = random() % text.size();
      const std::size_t before = text.rfind('\n', at);
      const std::size_t start = before == text.npos ? 0 : before;
      add_plainly(words, 0, std::string_view(text).substr(start, text.find('\n', at) - start));
    } else {
      add_plainly(words, 0, text);
    }
    if (!words.empty()) {
      auto word = words.begin();
      std::advance(word, random() % words.size());
      drawn.insert(word->first);
    }
  }
  return {drawn.begin(), drawn.end()};
}

// The files that codesearch names for each word, from one run.
std::map<std::string, file_set> ask_codesearch(const std::string& root,
                                               const std::vector<std::string>& words,
                                               std::vector<std::string> options) {
  std::vector<std::string> arguments{root, "--top", "0"};
  for (const std::string& word : words) {
    arguments.insert(arguments.end(), {"--query", word});
  }
  arguments.insert(arguments.end(), options.begin(), options.end());
  const program_result r = run_codesearch(arguments);
  REQUIRE(r.status == 0);
  std::map<std::string, file_set> result;
  file_set* current = nullptr;
  for (const std::string& line : lines_of(r.out)) {
    if (line.starts_with("query \"")) {
      current = &result[line.substr(7, line.find('"', 7) - 7)];
    } else if (line.starts_with(root)) {
      REQUIRE(current != nullptr);
      // Paths here hold no colon.
      current->insert(line.substr(0, line.find(':')));
    }
  }
  return result;
}

file_set ask_grep(const std::string& root, const std::string& word) {
  file_set files;
  const program_result r = run({"env", "LC_ALL=C", "grep", "-rlw", "-e", word, root});
  REQUIRE(r.status <= 1);
  for (std::string& line : lines_of(r.out)) {
    if (!is_binary(line)) {
      files.insert(std::move(line));
    }
  }
  return files;
}

void compare(const std::string& root, std::size_t count) {
  const std::vector<std::string> words = draw_words(root, count);
  REQUIRE(words.size() == count);
  const auto one = ask_codesearch(root, words, {"--executors", "1", "--compute", "1"});
  const auto two = ask_codesearch(root, words, {"--executors", "2", "--compute", "2"});
  std::size_t names = 0;
  for (const std::string& word : words) {
    CAPTURE(word);
    const file_set expected = ask_grep(root, word);
    CHECK_FALSE(expected.empty());
    CHECK(one.at(word) == expected);
    CHECK(two.at(word) == expected);
    names += expected.size();
  }
  CHECK(names > count); // some words are in several files, or the comparison says little
}

} // namespace

TEST_CASE("100 words of a generated tree are in the files that grep -rlw names") {
  const scratch_tree tree;
  std::mt19937 random(41);
  for (int i = 0; i < 300; ++i) {
    std::string text = random_text(random, random() % 400);
    if (i % 25 == 0) {
      text.insert(text.size() / 2, 1, '\0'); // binary, mostly
    }
    tree.write("d" + std::to_string(i % 9) + "/f" + std::to_string(i), text);
  }
  compare(tree.path(), 100);
}

TEST_CASE("100 words of system headers are in the files that grep -rlw names") {
  const char* root = "/usr/include/linux";
  if (!fs::exists(root)) {
    return;
  }
  compare(root, 100);
}
