#include "support/catch.hpp"

#include "codesearch/include_scan.hpp"

using namespace codesearch;
using names = std::vector<include_name>;

namespace {

names directive(std::string_view line) {
  names out;
  scan_directive(line, out);
  return out;
}

names imports(std::string_view text) {
  names out;
  scan_imports(text, out);
  return out;
}

} // namespace

TEST_CASE("directives name the file between quotes or brackets") {
  CHECK(directive("include <sys/types.h>") == names{{"sys/types.h"}});
  CHECK(directive(" \tinclude\t\"x.h\" /* why */\nint a;") == names{{"x.h"}});
  CHECK(directive("include_next <limits.h>") == names{{"limits.h"}});
  CHECK(directive("import <Foundation/Foundation.h>") == names{{"Foundation/Foundation.h"}});
  CHECK(directive("include<vector>\r\n") == names{{"vector"}});
}

TEST_CASE("leading dots and slashes are dropped: suffixes are what is compared") {
  CHECK(directive("include \"../../a/b.h\"") == names{{"a/b.h"}});
  CHECK(directive("include \"./b.h\"") == names{{"b.h"}});
  CHECK(directive("include \"/usr/include/b.h\"") == names{{"usr/include/b.h"}});
}

TEST_CASE("what is no include gives nothing") {
  for (const std::string_view line :
       {"", "define include <x>", "includes <x>", "include", "include MACRO", "include <x",
        "include <x\n>", "include <>", "include \"dir/\"", "include \"", "include '"}) {
    CAPTURE(line);
    CHECK(directive(line).empty());
  }
  CHECK(directive("include <" + std::string(2000, 'x') + ">").empty());
}

TEST_CASE("import statements of several languages are read at the start of lines") {
  CHECK(imports("import os.path\n") == names{{"os/path", true}});
  CHECK(imports("x\nimport a, b.c as d\n") == names{{"a", true}, {"b/c", true}});
  CHECK(imports("from a.b import c, d") == names{{"a/b", true}});
  CHECK(imports("from .sibling import c") == names{{"sibling", true}});
  CHECK(imports("import java.util.List;") == names{{"java/util/List", true}});
  CHECK(imports("import static a.B;") == names{{"a/B", true}});
  CHECK(imports("import <vector>;\nexport import \"h.hpp\";") == names{{"vector"}, {"h.hpp"}});
  CHECK(imports("export import my.module;") == names{{"my/module", true}});
  CHECK(imports("import { x } from './lib/y';") == names{{"lib/y", true}});
  CHECK(imports("import x from \"./y.js\";") == names{{"y.js", false}});
}

TEST_CASE("prose and code with the word import give nothing") {
  for (const std::string_view text :
       {"import the header first", "we import it", " import indented;", "dllimport x;",
        "important;", "import", "import\n", "from here we import", "import *;",
        "import \xFF\xFE;"}) {
    CAPTURE(text);
    CHECK(imports(text).empty());
  }
}

TEST_CASE("a long line with many imports is looked at once") {
  std::string text = "x";
  for (int i = 0; i < 200'000; ++i) {
    text += " import a;";
  }
  CHECK(imports(text).empty()); // quadratic time would run into the timeout
}
