#!/usr/bin/env python3
"""Breaks every rule of tidy.py on purpose and expects exactly that finding."""
import os
import shutil
import sys
import tempfile
import unittest

import tidy

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "banned_words.txt"),
          encoding="utf-8") as file:
    BANNED_WORDS = file.read()

GOOD = {
    "CMakeLists.txt": "add_subdirectory(posse)\n",
    "tests/posse/CMakeLists.txt": "basal_add_test(NAME posse/a KIND stress)\n"
                                  "foreach(part IN ITEMS b c)\n"
                                  "  basal_add_test(NAME posse/${part} KIND contract)\n",
    "tests/posse/c.test.cpp": "int x;\n",
    "tests/posse/a.stress.cpp": "#include <basal/posse/a.hpp>\n",
    "posse/include/basal/posse/a.hpp": "#pragma once\n// the one http://x/*y */ is fine\n"
                                       "// Whatever it is, it says\n// what it is.\n",
    "posse/src/a.cpp": '#include <basal/posse/a.hpp>\nauto s = "/*";\n',
    "posse/CMakeLists.txt": "basal_add_module(posse HEADERS include/basal/posse/a.hpp\n"
                            "                 SOURCES src/a.cpp)\n",
    **{f"{tidy.FOLDERS.get(module, module)}/README.md": "text\n" for module in tidy.ARROWS},
    "README.md": "```cpp\nint x;\n```\n",
    "samples/CMakeLists.txt": "add_subdirectory(hello)\n",
    "samples/hello/CMakeLists.txt": "basal_add_sample(hello SOURCES main.cpp)\n",
    "samples/hello/main.cpp": "int x;\n",
    "tests/house/banned_words.txt": BANNED_WORDS,
}

CPP = "#include <basal/posse/a.hpp>\n"

# Additions to the good tree, each with the one finding that must come of it.
BAD = [
    ("dev", "x" * 101 + "\n", "101 columns"),
    ("dev", "a\tb\n", "tab"),
    ("dev", "a \n", "space"),
    ("dev", "a", "exactly one newline"),
    ("dev", "# TODO later\n", "finish it"),
    ("docs/a.md", "```cpp\nint x;\n```\n", "nobody compiles"),
    ("dev", "# Who calls it.\n", "names its subject"),
    ("posse/src/a.cpp", CPP + "/// What it is.\nint i;\n", "names its subject"),
    ("posse/src/a.cpp", CPP + "int i; ///< whose it is\n", "names its subject"),
    ("posse/src/a.cpp", CPP + "int i; /* no */\n", "C-style"),
    ("posse/include/basal/posse/a.hpp", "#include <vector>\n", "#pragma once"),
    ("posse/src/a.cpp", CPP + "#include <basal/solver/b.hpp>\n", "points up"),
    ("posse/src/a.cpp", CPP + "#include <caf/actor.hpp>\n",
     "actors/ and observer/ and remote/ and solver_service/ alone"),
    ("posse/src/a.cpp", CPP + "#include <civetweb.h>\n", "named in observer/ alone"),
    ("posse/include/basal/posse/a.hpp", '#pragma once\n#include "b.hpp"\n', "public headers"),
    ("posse/CMakeLists.txt", "basal_add_module(posse SOURCES src/a.cpp PUBLIC_LIBS basal::mab)\n",
     "links mab and includes nothing"),
    ("posse/src/a.cpp", CPP + "#include <basal/executors/b.hpp>\n", "does not link it"),
    ("posse/src/b.cpp", "int x;\n", "dead file"),
    ("posse/include/basal/posse/b.hpp", "#pragma once\n", "so it is not installed"),
    ("tests/posse/a.model.cpp", "int x;\n", "dead file"),
    ("posse/src/a.cpp", CPP + "int x;\n" * 500, "501 lines"),
    ("data.bin", "x" * 400_001, "the limit is 400000"),
    ("posse/README.md", "see [there](gone.md)\n", "does not exist"),
    ("mab/README.md", None, "every module"),
    ("README.md", "```cpp\nint main() {}\n```\n", "word for word"),
]


class TidyTest(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="basal-tidy-")
        self.addCleanup(shutil.rmtree, self.root)
        for name, text in GOOD.items():
            self.write(name, text)

    def write(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if text is None:
            os.remove(path)
            return
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def test_a_good_tree_has_no_findings(self):
        self.assertEqual(list(tidy.findings(self.root)), [])

    def test_each_rule_finds_what_breaks_it(self):
        for name, text, expected in BAD:
            with self.subTest(name=name, expected=expected):
                self.write(name, text)
                found = list(tidy.findings(self.root))
                self.assertEqual([f[0] for f in found], [name], found)
                self.assertIn(expected, found[0][2])
                if name in GOOD:
                    self.write(name, GOOD[name])
                else:
                    self.write(name, None)

    def test_every_rule_is_broken_by_some_case(self):
        seen = set()
        for name, text, _ in BAD:
            self.write(name, text)
            tree = tidy.Tree(self.root)
            seen |= {rule.__name__ for rule in tidy.RULES if list(rule(tree))}
            self.write(name, GOOD.get(name))
        self.assertEqual(seen, {rule.__name__ for rule in tidy.RULES})


if __name__ == "__main__":
    sys.exit(unittest.main())
