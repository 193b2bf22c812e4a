#!/usr/bin/env python3
"""Tests of bench/report.py."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
import report  # noqa: E402


def result(module, cases=(), **changed):
    made = {"module": module, "date": "2020-01-02", "compiler": "g++ 12", "flags": "-O3",
            "machine": {"cpu": "a CPU", "usable_cpus": 4, "kernel": "Linux 6.1-vm"}, "quick": True,
            "filter": "", "succeeded": True, "figures": {}, "cases": list(cases)}
    made.update(changed)
    return made


class ReportTest(unittest.TestCase):
    def test_a_duration_has_three_digits_and_a_unit(self):
        self.assertEqual([report.duration(ns) for ns in (1.234, 1234, 5.678e6, 2e9)],
                         ["1.23 ns", "1.23 us", "5.68 ms", "2 s"])

    def test_ours_stand_beside_the_peers(self):
        text = report.report("", [result("posse", [
            {"name": "fib/37/basal/1", "median_ns": 2e6},
            {"name": "fib/37/basal/10", "median_ns": 1e6},
            {"name": "fib/37/tbb/2", "error": "wrong"}], figures={"overhead": 1.0834})])
        self.assertIn("| `fib/37` | 1 CPU | 2 CPUs | 10 CPUs |\n|---|---|---|---|\n"
                      "| basal | 2 ms |  | 1 ms |\n| tbb |  | failed |  |\n", text)
        self.assertIn("| `overhead` | 1.08 |", text)
        self.assertIn("2020-01-02, quick run; a CPU, 4 CPUs, Linux 6.1; g++ 12 -O3.", text)

    def test_a_module_that_was_not_measured_keeps_its_section(self):
        before = report.report("", [result("mab", figures={"x": 1}), result("posse")])
        after = report.report(before, [result("posse", succeeded=False)])
        self.assertIn("| `x` | 1 |", after)
        self.assertEqual(after.count("## posse"), 1)
        self.assertIn("has failed", after)

    def test_the_same_results_make_the_same_report(self):
        results = [result("mab"), result("posse", figures={"y": 2})]
        once = report.report("", results)
        self.assertEqual(report.report(once, results), once)


if __name__ == "__main__":
    sys.exit(unittest.main())
