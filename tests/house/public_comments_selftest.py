#!/usr/bin/env python3
"""public_api.read finds what has no comment, and only that."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs"))
import public_api  # noqa: E402

HEADER = """#pragma once
/// A thing.
struct thing {
  int weight_g; ///< without its box
  int height_mm;
};
namespace detail {
struct hidden {};
} // namespace detail
"""


class PublicApi(unittest.TestCase):
    def warnings(self, files):
        with tempfile.TemporaryDirectory() as root:
            for name, text in files.items():
                path = os.path.join(root, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            return public_api.read(root, os.path.join(root, "out"))

    def test_a_member_without_a_comment_is_named(self):
        found = self.warnings({"posse/include/basal/posse/thing.hpp": HEADER})
        self.assertEqual(len(found), 1, found)
        self.assertIn("posse/include/basal/posse/thing.hpp:5: warning: Member height_mm", found[0])

    def test_modules_below_modules_are_read(self):
        self.assertEqual(
            len(self.warnings({"posse/cluster/include/basal/cluster/thing.hpp": HEADER})), 1)

    def test_details_and_sources_are_not_public(self):
        self.assertEqual(self.warnings({"posse/include/basal/posse/detail/thing.hpp": HEADER,
                                        "posse/src/thing.hpp": HEADER}), [])


if __name__ == "__main__":
    unittest.main()
