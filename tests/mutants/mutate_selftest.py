#!/usr/bin/env python3
"""Replays mutants of a tree of two lines, and breaks the lists in every way they can be broken."""
import contextlib
import io
import json
import os
import re
import shutil
import sys
import tempfile
import unittest

import mutate

# The target compiles while code.txt says `good`, and its test passes while it says `rule`.
TREE = {
    "code.txt": "good\nrule\nidle\n",
    "CMakePresets.json": json.dumps({
        "version": 6, "configurePresets": [
            {"name": "dev", "generator": "Ninja", "binaryDir": "${sourceDir}/build/dev"}]}),
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.25)
project(tree LANGUAGES NONE)
enable_testing()
add_custom_target(tree.a.test COMMAND grep -q good ${PROJECT_SOURCE_DIR}/code.txt)
add_test(NAME tree.a.test COMMAND grep -q rule ${PROJECT_SOURCE_DIR}/code.txt)
add_test(NAME tree.b.test COMMAND grep -q gone ${PROJECT_SOURCE_DIR}/code.txt)
""",
}


def entry(name, find, replace, more='tests = ["tree.a.test"]'):
    return (f'[{name}]\nrule = "it holds"\nfile = "code.txt"\n'
            f"find = '''{find}'''\nreplace = '''{replace}'''\n{more}\n")


class MutateTest(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="basal-mutate-")
        self.addCleanup(shutil.rmtree, self.root)
        os.makedirs(os.path.join(self.root, "tests", "mutants"))
        for name, text in TREE.items():
            self.write(name, text)

    def write(self, name, text):
        with open(os.path.join(self.root, name), "w", encoding="utf-8") as file:
            file.write(text)

    def write_list(self, *entries):
        self.write("tests/mutants/tree.toml", "\n".join(entries))

    def run_tool(self, *arguments):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            status = mutate.main(list(arguments), self.root)
        return status, re.sub(r"mutate: .* \.\.\.\n", "", out.getvalue())

    def test_a_rule_that_a_test_watches_over_is_killed(self):
        self.write_list(entry("no-rule", "rule", "none"))
        status, text = self.run_tool()
        self.assertEqual(text, "no-rule: killed by tree.a.test\n"
                               "1 killed, 0 survived, 0 stale, 0 not compiled\n")
        self.assertEqual(status, 0)
        with open(os.path.join(self.root, "code.txt"), encoding="utf-8") as file:
            self.assertEqual(file.read(), TREE["code.txt"])

    def test_survivors_stale_entries_and_what_does_not_compile_are_errors(self):
        for find, replace, expected in [("idle", "none", "x: SURVIVED tree.a.test"),
                                        ("gone", "none", "x: STALE: its text occurs 0 times"),
                                        ("e\n", "none", "x: STALE: its text occurs 2 times"),
                                        ("good", "none", "x: DOES NOT COMPILE: see ")]:
            self.write_list(entry("x", find, replace))
            status, text = self.run_tool()
            self.assertIn(expected, text)
            self.assertEqual(status, 1)

    def test_a_test_that_fails_by_itself_kills_nothing(self):
        self.write_list(entry("x", "rule", "none", 'tests = ["tree.b.test"]\ntargets = []'))
        status, text = self.run_tool()
        self.assertIn("fails although nothing was changed: tree.b.test", text)
        self.assertEqual(status, 1)

    def test_arguments_choose_by_name_by_file_and_by_line(self):
        self.write_list(entry("one", "good\nrule", "x"), entry("two", "rule\n", "x"))
        chosen = {"one": ["one"], "code.txt": ["one", "two"], "code.txt:1": ["one"],
                  "./code.txt:2": ["one", "two"]}
        for argument, expected in chosen.items():
            status, text = self.run_tool("--list", argument)
            self.assertEqual([line.split(":")[0] for line in text.splitlines()], expected)
            self.assertEqual(status, 0)
        for argument in ("three", "code.txt:3", "other.txt"):
            status, text = self.run_tool("--list", argument)
            self.assertIn(f"no mutant is called {argument}", text)
            self.assertEqual(status, 1)

    def test_an_interrupted_replay_goes_on_where_it_ended(self):
        self.write_list(entry("one", "rule", "none"), entry("two", "rule\n", "none\n"))
        replayed = []
        replay_one = mutate.Copy.replay

        def interrupted(copy, mutant):
            replayed.append(mutant.name)
            if len(replayed) == 2:
                raise KeyboardInterrupt
            return replay_one(copy, mutant)

        mutate.Copy.replay = interrupted
        self.addCleanup(setattr, mutate.Copy, "replay", replay_one)
        self.assertEqual(self.run_tool()[0], 130)
        self.assertEqual(self.run_tool()[0], 0)
        self.assertEqual(replayed, ["one", "two", "two"])
        self.assertEqual(self.run_tool()[0], 0)  # complete: the next one begins anew
        self.assertEqual(replayed[3:], ["one", "two"])

    def test_another_tree_begins_anew(self):
        self.write_list(entry("one", "rule", "none"))
        [mutant] = mutate.read_lists(os.path.join(self.root, "tests", "mutants"))
        path = os.path.join(self.root, "progress.json")
        with mutate.Copy(self.root) as copy:
            digest = copy.update(self.root)
            mutate.Progress(path, digest).remember(mutant, mutate.Verdict.KILLED, "it")
            self.assertEqual(mutate.Progress(path, digest).verdict_of(mutant),
                             (mutate.Verdict.KILLED, "it"))
            self.write("code.txt", "good\nrule\n")
            self.assertIsNone(mutate.Progress(path, copy.update(self.root)).verdict_of(mutant))

    def test_check_finds_stale_entries_and_unknown_tests(self):
        self.write_list(entry("one", "rule", "none"))
        self.assertEqual(self.run_tool("--check"), (0, "1 mutants, none is stale\n"))
        self.run_tool()
        build_dir = os.path.join(self.root, "build", "mutate", "build", "dev")
        self.write_list(entry("one", "rule", "none"), entry("two", "gone", "none"),
                        entry("three", "idle", "none", 'tests = ["tree.c.test"]'),
                        entry("four", "idle", "none", 'tests = ["left_out.c.test"]'))
        self.assertEqual(self.run_tool("--check", build_dir), (1, (
            "two: its text occurs 0 times in code.txt\nthree: ctest knows no test tree.c.test\n")))

    def test_a_list_that_is_none_is_an_error(self):
        for text in ("not toml", entry("x", "rule", "rule"), "[x]\nrule = ''\n",
                     entry("x", "rule", "none", "tests = []"),
                     entry("x", "rule", "none", "test = 1")):
            self.write_list(text)
            status, text = self.run_tool("--check")
            self.assertIn("mutate: tree.toml: ", text)
            self.assertEqual(status, 1)
        self.write_list(entry("x", "rule", "none"))
        self.write("tests/mutants/other.toml", entry("x", "rule", "none"))
        self.assertIn("[x] is in another list, too", self.run_tool("--check")[1])

    def test_files_that_are_gone_leave_the_copy(self):
        self.write("more.txt", "")
        with mutate.Copy(self.root) as copy:
            copy.update(self.root)
            self.assertTrue(os.path.exists(os.path.join(copy.root, "more.txt")))
            os.remove(os.path.join(self.root, "more.txt"))
            copy.update(self.root)
            self.assertFalse(os.path.exists(os.path.join(copy.root, "more.txt")))

    def test_two_replays_do_not_share_the_copy(self):
        with mutate.Copy(self.root), self.assertRaises(mutate.BadList):
            mutate.Copy(self.root)


if __name__ == "__main__":
    sys.exit(unittest.main())
