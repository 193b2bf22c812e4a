#!/usr/bin/env python3
"""Input that docs/read_code.py reads or refuses. usage: read_code_test.py DOCS"""
import sys
import unittest

sys.path.insert(0, sys.argv.pop(1))
import read_code  # noqa: E402

WARNINGS = ('enum class warning_kind : int {\n  late,\n  lost,\n};\n'
            'return {"late", "comes " "late", "wait", lasting};\n')
METRICS = ('out.gauge("basal_x", "X.");\nof_pools("basal_y_total",\n  "Y.", &z);\n'
           'out.histogram("basal_h_seconds", "H.");\nout.histogram(name, help);\n')


class ReadCodeTest(unittest.TestCase):
    def test_a_comment_may_take_several_lines(self):
        self.assertEqual(
            read_code.enumerators("enum class e : int {\n  a = 1, ///< one\n         ///< thing\n\n"
                                  "  // others:\n  b ///< two\n};\n", "e"),
            [("a", "one thing"), ("b", "two")])

    def test_what_has_no_comment_is_refused(self):
        with self.assertRaisesRegex(ValueError, "a has no comment"):
            read_code.enumerators("enum class e {\n  a,\n};\n", "e")

    def test_what_is_not_there_is_refused(self):
        with self.assertRaisesRegex(ValueError, "no enum class e"):
            read_code.enumerators("enum class other {\n  a, ///< x\n};\n", "e")

    def test_each_warning_must_be_described(self):
        with self.assertRaisesRegex(ValueError, "not the kinds"):
            read_code.warnings(WARNINGS)
        self.assertEqual(
            read_code.warnings(WARNINGS + 'return {"lost", "is lost",\n "look", at_once};\n'),
            [("late", "comes late", "wait"), ("lost", "is lost", "look")])

    def test_each_metric_must_have_a_text(self):
        self.assertEqual(read_code.metrics(METRICS),
                         [("basal_x", "gauge", "X."), ("basal_y_total", "counter", "Y."),
                          ("basal_h_seconds", "histogram", "H.")])
        with self.assertRaisesRegex(ValueError, "not those"):
            read_code.metrics(METRICS + 'begin("basal_z");\n')


if __name__ == "__main__":
    sys.exit(unittest.main())
