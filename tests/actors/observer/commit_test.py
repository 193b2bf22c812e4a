"""Of which commit a program says that it was built from: that of the tree, if it is a repository.

usage: commit_test.py CMAKE SCRIPT
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CMAKE, SCRIPT = sys.argv[1:3]


def git(folder, *arguments):
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    return subprocess.run(["git", "-C", folder, *author, *arguments], check=True,
                          capture_output=True, text=True).stdout.strip()


class CommitTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="basal-commit-")
        self.addCleanup(self.folder.cleanup)
        self.tree = pathlib.Path(self.folder.name, "tree")
        (self.tree / "part").mkdir(parents=True)

    def named(self, tree):
        output = pathlib.Path(self.folder.name, "commit.cpp")
        subprocess.run([CMAKE, f"-DTREE={tree}", f"-DOUTPUT={output}", "-P", SCRIPT], check=True)
        return output.read_text().split('"')[3]

    def test_a_folder_that_is_no_repository(self):
        self.assertEqual(self.named(self.tree), "unknown")

    def test_a_repository(self):
        git(self.tree, "init", "--quiet")
        self.assertEqual(self.named(self.tree), "unknown", "there is no commit yet")
        git(self.tree, "commit", "--quiet", "--allow-empty", "--message", "first")
        first = self.named(self.tree)
        self.assertEqual(first, git(self.tree, "rev-parse", "HEAD")[:12])
        git(self.tree, "commit", "--quiet", "--allow-empty", "--message", "second")
        self.assertNotEqual(self.named(self.tree), first)

    def test_a_folder_of_somebody_elses_repository(self):
        git(self.tree, "init", "--quiet")
        git(self.tree, "commit", "--quiet", "--allow-empty", "--message", "first")
        self.assertEqual(self.named(self.tree / "part"), "unknown")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
