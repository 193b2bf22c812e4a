#include "support/catch.hpp"

#include "scratch_tree.hpp"

#include "codesearch/walker.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include <sys/stat.h>
#include <unistd.h>

using namespace codesearch;
using namespace codesearch::test;
namespace fs = std::filesystem;

namespace {

struct walked {
  std::vector<found_file> files;
  skip_log skips;

  [[nodiscard]] std::set<std::string> paths() const {
    std::set<std::string> result;
    for (const found_file& f : files) {
      result.insert(f.path);
    }
    return result;
  }
};

walked walk(std::vector<std::string> roots, std::size_t files_per_step = 3) {
  tree_walker walker(std::move(roots));
  walked result;
  while (walker.step(files_per_step, result.files)) {
  }
  result.skips = walker.skips();
  return result;
}

} // namespace

TEST_CASE("all regular files are found once, with their sizes and dense numbers") {
  const scratch_tree tree;
  std::set<std::string> expected;
  for (int i = 0; i < 100; ++i) {
    expected.insert(tree.write("d" + std::to_string(i % 7) + "/e" + std::to_string(i % 3) + "/f"
                                 + std::to_string(i),
                               std::string(static_cast<std::size_t>(i), 'x')));
  }
  expected.insert(tree.write(".hidden/.file", "x"));
  const walked got = walk({tree.path()});
  CHECK(got.paths() == expected);
  CHECK(got.files.size() == expected.size());
  for (std::size_t i = 0; i < got.files.size(); ++i) {
    CHECK(got.files[i].id == i);
    CHECK(got.files[i].bytes == fs::file_size(got.files[i].path));
  }
  CHECK(got.skips.losses() == 0);
}

TEST_CASE("the order of two walks of the same tree is the same, whatever the steps") {
  const scratch_tree tree;
  for (int i = 0; i < 200; ++i) {
    tree.write("d" + std::to_string(i % 20) + "/f" + std::to_string(i), "x");
  }
  const walked one = walk({tree.path()}, 1);
  const walked two = walk({tree.path()}, 1000);
  REQUIRE(one.files.size() == 200);
  CHECK(std::equal(one.files.begin(), one.files.end(), two.files.begin(),
                   [](const found_file& a, const found_file& b) { return a.path == b.path; }));
}

TEST_CASE("symbolic links are counted and not followed, so loops end no walk") {
  const scratch_tree tree;
  const std::string file = tree.write("a/b/file", "x");
  fs::create_directory_symlink(tree.path(), tree.path("a/b/loop"));
  fs::create_directory_symlink("self", tree.path("self"));
  fs::create_symlink(file, tree.path("a/alias"));
  const walked got = walk({tree.path()});
  CHECK(got.paths() == std::set<std::string>{file});
  CHECK(got.skips.count(skip_reason::symlink) == 3);
  CHECK(got.skips.losses() == 0);
}

TEST_CASE("a link or a file that is given as a path is followed or indexed itself") {
  const scratch_tree tree;
  const std::string file = tree.write("real/file", "x");
  fs::create_directory_symlink(tree.path("real"), tree.path("alias"));
  CHECK(walk({tree.path("alias")}).paths() == std::set<std::string>{tree.path("alias/file")});
  CHECK(walk({file}).paths() == std::set<std::string>{file});
}

TEST_CASE("pipes, sockets and closed folders are skipped and named") {
  const scratch_tree tree;
  tree.write("ok", "x");
  REQUIRE(::mkfifo(tree.path("pipe").c_str(), 0600) == 0);
  tree.write("closed/file", "x");
  fs::permissions(tree.path("closed"), fs::perms::none);
  const walked got = walk({tree.path()});
  CHECK(got.skips.count(skip_reason::special_file) == 1);
  if (::geteuid() != 0) { // nothing is closed to root
    CHECK(got.skips.count(skip_reason::not_permitted) == 1);
    CHECK(got.files.size() == 1);
  }
}

TEST_CASE("a folder that goes away during the walk is a skip") {
  const scratch_tree tree;
  for (int i = 0; i < 20; ++i) {
    tree.write("d" + std::to_string(i) + "/f", "x");
  }
  tree_walker walker({tree.path()});
  std::vector<found_file> files;
  REQUIRE(walker.step(1, files));
  for (int i = 0; i < 20; ++i) {
    fs::remove_all(tree.path("d" + std::to_string(i)));
  }
  while (walker.step(1, files)) {
  }
  CHECK(walker.skips().count(skip_reason::vanished) == 20 - files.size());
}

TEST_CASE("an empty tree has no files, and the walk ends") {
  const scratch_tree tree;
  fs::create_directories(tree.path("a/b/c"));
  CHECK(walk({tree.path()}).files.empty());
  CHECK(walk({}).files.empty());
}

TEST_CASE("roots inside of others, repeated ones and trailing slashes are dropped") {
  const scratch_tree tree;
  tree.write("a/b/file", "x");
  tree.write("ab/file", "x");
  fs::create_directory_symlink(tree.path("a"), tree.path("link"));
  std::vector<bad_root> bad;
  const std::string a = tree.path("a");
  CHECK(distinct_roots({a + "//", tree.path("a/b"), tree.path("ab"), a, tree.path("link")}, bad)
        == std::vector<std::string>{a, tree.path("ab")});
  CHECK(distinct_roots({tree.path("a/b"), a}, bad) == std::vector<std::string>{a});
  CHECK(distinct_roots({"/", a}, bad) == std::vector<std::string>{"/"});
  CHECK(bad.empty());
}

TEST_CASE("roots that do not exist or loop are bad, with a cause and a remedy") {
  const scratch_tree tree;
  fs::create_symlink("self", tree.path("self"));
  std::vector<bad_root> bad;
  CHECK(distinct_roots({tree.path("none"), tree.path("self"), tree.path()}, bad)
        == std::vector<std::string>{tree.path()});
  REQUIRE(bad.size() == 2);
  CHECK(bad[0].path == tree.path("none"));
  CHECK_THAT(bad[0].message,
             ContainsSubstring("No such file") && ContainsSubstring("give an existing"));
  CHECK_THAT(bad[1].message, ContainsSubstring("links lead back"));
}
