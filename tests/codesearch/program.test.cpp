#include "support/catch.hpp"

#include "run_program.hpp"
#include "scratch_tree.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <sys/stat.h>
#include <unistd.h>

using namespace codesearch::test;
using Catch::Matchers::StartsWith;
namespace fs = std::filesystem;

namespace {

// The lines that answer queries, without their times.
std::vector<std::string> answers(const program_result& r) {
  std::vector<std::string> result;
  for (std::string line : lines_of(r.out)) {
    if (line.starts_with("summary ")) {
      continue;
    }
    if (line.starts_with("query ")) {
      line.erase(line.rfind(','));
    }
    result.push_back(std::move(line));
  }
  return result;
}

} // namespace

TEST_CASE("queries are answered with path, line and text, and the summary adds up") {
  const scratch_tree tree;
  const std::string a = tree.write("a.c", "#include \"b.h\"\n\n  int main() { return value; }\n");
  const std::string b = tree.write("b.h", "extern int value;\n");
  const program_result r
    = run_codesearch({tree.path(), "--query", "int value", "--query", "ma*", "--query", "nowhere"});
  CHECK(r.status == 0);
  CHECK(r.err.empty());
  CHECK(answers(r)
        == std::vector<std::string>{
          "query \"int value\": 2 of 2 files", b + ":1: extern int value;",
          a + ":3: int main() { return value; }", "query \"ma*\": 1 of 2 files",
          a + ":3: int main() { return value; }", "query \"nowhere\": none of 2 files"});
  CHECK(summary(r, "files") == 2);
  CHECK(summary(r, "folders") == 1);
  CHECK(summary(r, "bytes") == 65);
  CHECK(summary(r, "lines") == 4);
  CHECK(summary(r, "tokens") == 10);
  CHECK(summary(r, "words") == 8);
  CHECK(summary(r, "postings") == 10);
  CHECK(summary(r, "includes") == 1);
  CHECK(summary(r, "skipped") == 0);
  CHECK_THAT(r.out,
             ContainsSubstring("summary seconds ") && ContainsSubstring("summary mb_per_s "));
}

TEST_CASE("--top limits the files shown and says how many more there are") {
  const scratch_tree tree;
  for (int i = 0; i < 30; ++i) {
    tree.write("f" + std::to_string(i), "word\n");
  }
  const auto shown = [&](std::vector<std::string> top) {
    std::vector<std::string> arguments{tree.path(), "--query", "word"};
    arguments.insert(arguments.end(), top.begin(), top.end());
    return answers(run_codesearch(arguments));
  };
  CHECK(shown({}).size() == 12);
  CHECK(shown({}).back() == "... and 20 more (see --top)");
  CHECK(shown({"--top", "3"}).size() == 5);
  CHECK(shown({"--top", "0"}).size() == 31);
}

TEST_CASE("a file can be indexed by itself") {
  const scratch_tree tree;
  const std::string file = tree.write("one.txt", "alpha beta\n");
  tree.write("two.txt", "alpha\n");
  const program_result r = run_codesearch({file, "--query", "alpha"});
  CHECK(r.status == 0);
  CHECK(answers(r)
        == std::vector<std::string>{"query \"alpha\": 1 of 1 files", file + ":1: alpha beta"});
}

TEST_CASE("several trees are one index, and no file is indexed twice") {
  const scratch_tree tree;
  tree.write("a/f", "word\n");
  tree.write("b/f", "word\n");
  const program_result r
    = run_codesearch({tree.path("a"), tree.path("b"), tree.path("a/f"), tree.path("b/")});
  CHECK(summary(r, "files") == 2);
}

TEST_CASE("an empty tree is no error and says so") {
  const scratch_tree tree;
  const program_result r = run_codesearch({tree.path(), "--query", "x"});
  CHECK(r.status == 0);
  CHECK(summary(r, "files") == 0);
  CHECK_THAT(r.err, ContainsSubstring("found no files to index"));
  CHECK_THAT(r.out, ContainsSubstring("query \"x\": none of 0 files"));
}

TEST_CASE("wrong usage exits with 2, names the cause and prints nothing else") {
  const scratch_tree tree;
  struct wrong {
    std::vector<std::string> arguments;
    std::string message;
  };
  const std::string root = tree.path();
  for (const auto& [arguments, message] :
       std::vector<wrong>{{{}, "PATH"},
                          {{tree.path("none")}, "No such file"},
                          {{root, tree.path("none")}, tree.path("none")},
                          {{root, "--query", ""}, "has no word in it"},
                          {{root, "--query", "a*b"}, "inside a word"},
                          {{root, "--query", "\x1B[31m*b"}, "the query \"\uFFFD[31m*b\" has"},
                          {{root, "--query"}, "--query"},
                          {{root, "--executors", "0"}, "--executors: Value 0 not in range "},
                          {{root, "--compute", "0"}, "--compute: Value 0 not in range "},
                          {{root, "--compute", "-3"}, "--compute"},
                          {{root, "--executors", "100000"}, "not in range "},
                          {{root, "--top", "x"}, "--top"},
                          {{root, "--top", "-3"}, "Value -3 not in range "},
                          {{root, "--unknown"}, "--unknown"}}) {
    CAPTURE(arguments);
    const program_result r = run_codesearch(arguments);
    CHECK(r.status == 2);
    CHECK(r.out.empty());
    CHECK_THAT(r.err, StartsWith("codesearch: ") && ContainsSubstring(message));
  }
}

TEST_CASE("--help exits with 0 and lists the options") {
  const program_result r = run_codesearch({"--help"});
  CHECK(r.status == 0);
  for (const char* option :
       {"PATH", "--query", "--top", "--stats", "--strict", "--executors", "--compute", "130"}) {
    CHECK_THAT(r.out, ContainsSubstring(option));
  }
}

TEST_CASE("what is skipped is counted and listed, and matters with --strict only") {
  const scratch_tree tree;
  tree.write("text", "word\n");
  const std::string binary = tree.write("binary", std::string("word\0word\n", 10));
  for (int i = 0; i < 40; ++i) {
    tree.write("more/b" + std::to_string(i), std::string(3, '\0'));
  }
  REQUIRE(::mkfifo(tree.path("pipe").c_str(), 0600) == 0);
  fs::create_symlink("text", tree.path("link"));
  const program_result r = run_codesearch({tree.path(), "--query", "word"});
  CHECK(r.status == 0);
  CHECK(summary(r, "files") == 1);
  CHECK(summary(r, "skipped") == 42);
  CHECK(summary(r, "symlinks") == 1);
  CHECK_THAT(r.err, ContainsSubstring("skipped 42:") && ContainsSubstring("binary: 41\n")
                      && ContainsSubstring("... and 21 more")
                      && ContainsSubstring("not a regular file: 1\n")
                      && ContainsSubstring(tree.path("pipe")));
  CHECK(lines_of(r.err).size() == 25);
  CHECK(run_codesearch({tree.path(), "--strict"}).status == 1);
  fs::remove(tree.path("pipe"));
  fs::remove(binary);
  fs::remove_all(tree.path("more"));
  CHECK(run_codesearch({tree.path(), "--strict"}).status == 0); // a link is no loss
}

TEST_CASE("a closed folder is named") {
  if (::geteuid() == 0) {
    return; // nothing is closed to root
  }
  const scratch_tree tree;
  tree.write("closed/f", "word\n");
  fs::permissions(tree.path("closed"), fs::perms::none);
  const program_result r = run_codesearch({tree.path(), "--strict"});
  CHECK(r.status == 1);
  CHECK_THAT(r.err,
             ContainsSubstring("no permission: 1") && ContainsSubstring(tree.path("closed")));
}

// In a script it once answered from what was indexed by then: from nothing.
TEST_CASE("--query - answers a script when everything is indexed") {
  const scratch_tree tree;
  for (int i = 0; i < 300; ++i) {
    tree.write("f" + std::to_string(i), "alpha\n");
  }
  const program_result r = run_codesearch({tree.path(), "--query", "-", "--top", "1"}, "alpha\n");
  CHECK(r.status == 0);
  CHECK_THAT(r.out, ContainsSubstring("query \"alpha\": 300 of 300 files, ")
                      && !ContainsSubstring("so far"));
}

TEST_CASE("--query - answers the lines of standard input") {
  const scratch_tree tree;
  tree.write("f", "alpha\nbeta\n");
  const program_result r = run_codesearch({tree.path(), "--query", "-"}, "alpha\n\na*b\nbeta");
  CHECK(r.status == 0);
  CHECK_THAT(r.out,
             ContainsSubstring("query \"alpha\": ") && ContainsSubstring("query \"beta\": "));
  CHECK_THAT(r.err, ContainsSubstring("an empty query") && ContainsSubstring("inside a word"));
  CHECK(summary(r, "files") == 1);
}

TEST_CASE("without standard input its queries are at their end") {
  const scratch_tree tree;
  tree.write("f", "alpha\n");
  const program_result r
    = run({"sh", "-c", "exec \"$@\" <&-", "sh", codesearch_path(), tree.path(), "--query", "-"});
  CHECK(r.status == 0);
  CHECK(r.err.empty());
  CHECK(summary(r, "files") == 1);
}

TEST_CASE("a line of standard input without an end is refused before memory ends") {
  const scratch_tree tree;
  tree.write("f", "alpha\n");
  const program_result r = run({"sh", "-c", "exec timeout -s KILL 30 \"$@\" </dev/zero", "sh",
                                codesearch_path(), tree.path(), "--query", "-"});
  CHECK(r.status == 1);
  CHECK(r.err.starts_with("codesearch: standard input has a line of more than 64 KiB"));
}

#ifndef __SANITIZE_ADDRESS__ // which itself needs terabytes of address space
// An actor that died for want of memory left the main thread waiting for an index that nobody made.
TEST_CASE("whatever memory there is, it comes to an end") {
  const scratch_tree tree;
  tree.write("f", "alpha\n");
  for (int kilobytes = 80'000; kilobytes < 400'000; kilobytes += 20'000) {
    CAPTURE(kilobytes);
    const program_result r
      = run({"sh", "-c", "ulimit -v $0; exec timeout 30 \"$@\"", std::to_string(kilobytes),
             codesearch_path(), tree.path(), "--query", "alpha"});
    CHECK(r.status != 124); // timeout's word for it
    CHECK_THAT(r.out, !ContainsSubstring("exception"));
  }
}
#endif

TEST_CASE("results that get nowhere are a failure") {
  const scratch_tree tree;
  tree.write("f", "alpha\n");
  for (const char* where : {">/dev/full", ">&-"}) {
    CAPTURE(where);
    const program_result r = run({"sh", "-c", std::string("exec \"$@\" ") + where, "sh",
                                  codesearch_path(), tree.path(), "--query", "alpha"});
    CHECK(r.status == 1);
    CHECK_THAT(r.err, ContainsSubstring("not all results could be written"));
  }
}

TEST_CASE("without queries and without a terminal the summary is all there is") {
  const scratch_tree tree;
  tree.write("f", "alpha\n");
  const program_result r = run_codesearch({tree.path()}, "alpha\n");
  CHECK(r.status == 0);
  CHECK(answers(r).empty());
  CHECK(summary(r, "files") == 1);
}

TEST_CASE("--stats says in a few short lines what executors and pure functions did") {
  const scratch_tree tree;
  tree.write("f", "alpha\n");
  const program_result r
    = run_codesearch({tree.path(), "--stats", "--executors", "2", "--compute", "1"});
  CHECK_THAT(r.out, ContainsSubstring("stats message executors: 2, ran ")
                      && ContainsSubstring("stats compute executors: 1, ran ")
                      && ContainsSubstring("stats function index_batch: 1 calls, ")
                      && ContainsSubstring("stats background: submitted ")
                      && ContainsSubstring("stats peak memory: "));
  std::istringstream lines(r.out);
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    count += line.starts_with("stats ") ? 1 : 0;
    CHECK(line.size() < 100);
  }
  CHECK(count < 12);
}

TEST_CASE(
  "--observe says where a browser looks, and indexes all the same where it may not listen") {
  if (run_codesearch({"--help"}).out.find("--observe") == std::string::npos) {
    return; // a build without an observer
  }
  const scratch_tree tree;
  tree.write("f", "alpha\n");
  const program_result shown = run_codesearch({tree.path(), "--observe=127.0.0.1:0"});
  CHECK(shown.status == 0);
  CHECK_THAT(shown.err, ContainsSubstring("observer at http://127.0.0.1:"));
  const program_result refused = run_codesearch({tree.path(), "--observe=192.0.2.1:7420"});
  CHECK(refused.status == 0);
  CHECK(summary(refused, "files") == 1);
  CHECK_THAT(refused.err, ContainsSubstring("not on the loopback interface"));
}

TEST_CASE("--stats=full prints every counter, and nothing else is known") {
  const scratch_tree tree;
  tree.write("f", "alpha\n");
  CHECK(run_codesearch({tree.path(), "--stats=all"}).status == 2);
  const program_result r
    = run_codesearch({tree.path(), "--stats=full", "--executors", "2", "--compute", "1"});
  CHECK_THAT(r.out, ContainsSubstring("stats message_executor 1 executor_stats(tasks_run = ")
                      && ContainsSubstring("stats compute_executor 0 executor_stats(tasks_run = ")
                      && !ContainsSubstring("compute_executor 1")
                      && ContainsSubstring("stats posse posse_stats(")
                      && ContainsSubstring("name = \"index_batch\"")
                      && ContainsSubstring("stats peak memory: "));
}

TEST_CASE("lines are shown fit for people, also from hostile files") {
  const scratch_tree tree;
  const std::string file
    = tree.write("f", "\tword \x1B[31m\xFF " + std::string(5'000'000, 'x') + "\n");
  const program_result r = run_codesearch({tree.path(), "--query", "word"});
  const auto shown = answers(r);
  REQUIRE(shown.size() == 2);
  CHECK_THAT(shown[1], StartsWith(file + ":1: word \uFFFD[31m\uFFFD xxx"));
  CHECK(shown[1].size() < file.size() + 200);
  CHECK_THAT(shown[1], Catch::Matchers::EndsWith("x\u2026"));
}

TEST_CASE("a file of many buffers is indexed with its lines") {
  const scratch_tree tree;
  const std::string path = tree.path("big");
  constexpr int lines = 400'000;
  {
    std::ofstream out(path, std::ios::binary);
    for (int i = 1; i <= lines; ++i) {
      out << "some repeated words on every line " << i % 1000 << "\n";
      if (i == 333'333) {
        out << "needle_in_the_hay\n";
      }
    }
  }
  const program_result r = run_codesearch(
    {tree.path(), "--query", "needle_in_the_hay", "--query", "repeated", "--stats"});
  CHECK(r.status == 0);
  CHECK(summary(r, "lines") == lines + 1);
  CHECK(summary(r, "bytes") == static_cast<long long>(fs::file_size(path)));
  CHECK(summary(r, "words") == 1007);
  CHECK_THAT(r.out, ContainsSubstring(path + ":333334: needle_in_the_hay"));
  CHECK_THAT(r.out, ContainsSubstring(path + ":1: some repeated words"));
}

TEST_CASE("answers are the same with 1 and with 2 executors of either kind") {
  const char* include = "/usr/include/linux";
  if (!fs::exists(include)) {
    return;
  }
  const auto ask = [&](const char* executors, const char* compute) {
    return answers(run_codesearch({include, "--top", "0", "--query", "struct", "--query", "socket*",
                                   "--query", "define IOC*", "--query", "file mode", "--executors",
                                   executors, "--compute", compute}));
  };
  const auto one = ask("1", "1");
  CHECK(one.size() > 100);
  CHECK(ask("1", "2") == one);
  CHECK(ask("2", "1") == one);
  CHECK(ask("2", "2") == one);
}
