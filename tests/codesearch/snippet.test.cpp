#include "support/catch.hpp"

#include "scratch_tree.hpp"

#include "codesearch/snippet.hpp"

#include <vector>

using namespace codesearch;
using namespace codesearch::test;

TEST_CASE("every line of a file is found, from its start and from a mark") {
  const scratch_tree tree;
  std::vector<std::string> lines;
  std::vector<std::uint64_t> offsets;
  std::string text;
  for (int i = 0; i < 3000; ++i) {
    // Some longer than what is read at once.
    lines.push_back(i % 1000 == 500 ? std::string(100'000, 'l') : "line " + std::to_string(i));
    offsets.push_back(text.size());
    text += lines.back() + (i == 2999 ? "" : "\n");
  }
  const std::string path = tree.write("file", text);
  for (std::size_t i = 0; i < lines.size(); i += 71) {
    const snippet s = read_line(path, i + 1, {}, 200'000);
    CHECK(s.found);
    CHECK(s.text == lines[i]);
    const std::size_t mark = i / 2;
    CHECK(read_line(path, i + 1, {mark + 1, offsets[mark]}, 200'000).text == lines[i]);
  }
  CHECK(read_line(path, 3000, {}).text == lines.back());
}

TEST_CASE("long lines are cut at the limit") {
  const scratch_tree tree;
  std::string text(3'000'000, 'x');
  text += "\nend";
  const std::string path = tree.write("file", text);
  CHECK(read_line(path, 1, {}, 100).text == std::string(100, 'x'));
  CHECK(read_line(path, 2, {}, 100).text == "end");
}

TEST_CASE("a file that changed or went away gives the reason instead of a line") {
  const scratch_tree tree;
  const std::string path = tree.write("file", "one\ntwo\n");
  const snippet behind = read_line(path, 9, {});
  CHECK_FALSE(behind.found);
  CHECK_THAT(behind.text, ContainsSubstring("has changed"));
  CHECK_FALSE(read_line(path, 9, {8, 10'000}).found);
  const snippet gone = read_line(tree.path("none"), 1, {});
  CHECK_FALSE(gone.found);
  CHECK_THAT(gone.text, ContainsSubstring("No such file"));
  CHECK_THAT(read_line(tree.path(), 1, {}).text, ContainsSubstring("no longer a regular file"));
}
