#include "support/catch.hpp"

#include "compute.hpp"
#include "text_samples.hpp"

#include "codesearch/include_graph.hpp"

#include <memory>

using namespace codesearch;
using namespace codesearch::test;

namespace {

const stop_flag go{false};

struct file {
  std::string path;
  std::string text;
};

// Path of the includer and of what it includes, for all edges.
std::vector<std::pair<std::string, std::string>> resolved(const std::vector<file>& files,
                                                          std::size_t executors = 1) {
  padded_texts texts;
  for (const file& f : files) {
    const auto id = static_cast<file_id>(texts.pieces.size());
    texts.add(id, f.text).path = f.path;
  }
  std::vector<std::pair<std::string, std::string>> edges;
  compute(
    [&](basal::posse::member& m) {
      const catalog all({std::make_shared<const segment>(build_pieces(m, texts.pieces, go))});
      const include_graph graph = resolve_includes(m, all, go);
      for (std::size_t i = 0; i < graph.files(); ++i) {
        for (const std::uint32_t target : graph.targets(i)) {
          edges.emplace_back(all.path(i), all.path(target));
        }
      }
      return 0;
    },
    executors);
  return edges;
}

using edge_list = std::vector<std::pair<std::string, std::string>>;

} // namespace

TEST_CASE("shared_suffix counts whole path components from the end") {
  CHECK(shared_suffix("b.h", "/a/b.h", false) == 1);
  CHECK(shared_suffix("a/b.h", "/a/b.h", false) == 2);
  CHECK(shared_suffix("x/a/b.h", "/a/b.h", false) == 2);
  CHECK(shared_suffix("b.h", "/a/bb.h", false) == 0);
  CHECK(shared_suffix("a/b.h", "/ca/b.h", false) == 1);
  CHECK(shared_suffix("a/b", "/a/b.py", true) == 2);
  CHECK(shared_suffix("a/b", "/a/b.py", false) == 0);
  CHECK(shared_suffix("b", "b", false) == 1);
}

TEST_CASE("the longest suffix wins, then the nearest folder, then the shortest path") {
  CHECK(resolved({{"/p/main.c", "#include <net/if.h>\n"},
                  {"/p/if.h", ""},
                  {"/p/linux/if.h", ""},
                  {"/q/net/if.h", ""}})
        == edge_list{{"/p/main.c", "/q/net/if.h"}});
  CHECK(resolved({{"/p/lib/main.c", "#include \"util.h\"\n"},
                  {"/p/util.h", ""},
                  {"/p/lib/util.h", ""},
                  {"/p/lib/deep/util.h", ""}})
        == edge_list{{"/p/lib/main.c", "/p/lib/util.h"}});
  CHECK(resolved({{"/p/main.c", "#include <vector>\n"}, {"/q/exp/vector", ""}, {"/q/vector", ""}})
        == edge_list{{"/p/main.c", "/q/vector"}});
}

TEST_CASE("names that match no file, and files that include themselves, add no edge") {
  CHECK(resolved({{"/p/a.h", "#include <b.h>\n#include \"a.h\"\n"}}).empty());
  // The file name alone is no match for a name with folders.
  CHECK(resolved({{"/p/a.h", "#include <other/config.h>\n"}, {"/p/config.h", ""}}).empty());
}

TEST_CASE("modules match files without their extension") {
  CHECK(resolved({{"/p/main.py", "import os.path\nfrom lib.x import y\n"},
                  {"/p/lib/x.py", ""},
                  {"/p/x.h", ""}})
        == edge_list{{"/p/main.py", "/p/lib/x.py"}});
}

TEST_CASE("the graph of many files is the same on 1 and on 2 executors") {
  std::mt19937 random(6);
  std::vector<file> files;
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (int k = 0; k < 20; ++k) {
      text += "#include <d" + std::to_string(random() % 30) + "/f" + std::to_string(random() % 100)
              + ".h>\n";
    }
    files.push_back(
      {"/r/d" + std::to_string(i / 100) + "/f" + std::to_string(i % 100) + ".h", std::move(text)});
  }
  const edge_list one = resolved(files, 1);
  CHECK(one.size() > 55'000);
  CHECK(one == resolved(files, 2));
}
