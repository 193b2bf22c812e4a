#!/usr/bin/env python3
"""Tests of bench/report.py and bench/plot.py."""
import os
import sys
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
import plot  # noqa: E402
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
        self.assertIn("| `fib/37` | 1 thread | 2 threads | 10 threads |\n|---|---|---|---|\n"
                      "| basal | 2 ms |  | 1 ms |\n| tbb |  | failed |  |\n", text)
        self.assertIn("| `overhead` | 1.08 |", text)
        self.assertIn("2020-01-02, quick run; a CPU, 4 CPUs, Linux 6.1; g++ 12 -O3.", text)
        self.assertNotIn("cache line", text)

    def test_how_far_cpus_are_from_each_other_is_told(self):
        run = result("posse")
        run["machine"] = {**run["machine"], "cache_line_ns": [90, 410.4, 91]}
        self.assertIn("A cache line to another CPU and back: 91 ns, 90 to 410 in this run.\n",
                      report.report("", [run]))

    def test_a_module_that_was_not_measured_keeps_its_section(self):
        before = report.report("", [result("mab", figures={"x": 1}), result("posse")])
        after = report.report(before, [result("posse", succeeded=False)])
        self.assertIn("| `x` | 1 |", after)
        self.assertEqual(after.count("## posse"), 1)
        self.assertIn("has failed", after)

    def test_a_plot_has_each_implementation_at_its_time_over_the_shortest(self):
        cases = [{"name": "a<b/1/basal/1", "median_ns": 1},
                 {"name": "a<b/1/basal/4", "median_ns": 2},
                 {"name": "a<b/1/tbb/4", "median_ns": 8},
                 {"name": "alone/1/basal/4", "median_ns": 1},
                 {"name": "a<b/1/omp/8", "error": "wrong"}]
        workloads = report.workloads(cases)
        self.assertEqual(plot.rows(workloads), [("a<b/1", "4", {"basal": 2, "tbb": 8})])
        drawn = plot.svg("posse", workloads)
        root = xml.etree.ElementTree.fromstring(drawn)
        space = "{http://www.w3.org/2000/svg}"
        self.assertEqual([e.text for e in root.iter(space + "title")], ["basal: 1", "tbb: 4"])
        self.assertIn("a<b/1, 4", [e.text for e in root.iter(space + "text")])
        self.assertIn("](plots/posse.svg)", report.report("", [result("posse", cases)]))

    def test_many_implementations_have_marks_of_their_own_and_fit_beside_each_other(self):
        cases = [{"name": f"a/1/implementation{i:02}/4", "median_ns": 1} for i in range(20)]
        root = xml.etree.ElementTree.fromstring(plot.svg("posse", report.workloads(cases)))
        space = "{http://www.w3.org/2000/svg}"
        width = float(root.get("viewBox").split()[2])
        named = [e for e in root.iter(space + "text") if e.text.startswith("implementation")]
        self.assertEqual(len(named), 20)
        for e in named:
            self.assertLess(float(e.get("x")) + 7 * len(e.text), width)
        marks = {(e.get("d"), e.get("fill")) for e in root.iter(space + "path")}
        self.assertEqual(len(marks), 20)

    def test_what_has_no_peer_has_no_plot(self):
        cases = [{"name": "alone/1/basal/4", "median_ns": 1}]
        self.assertIsNone(plot.svg("mab", report.workloads(cases)))
        self.assertNotIn("plots/", report.report("", [result("mab", cases)]))

    def test_the_same_results_make_the_same_report(self):
        results = [result("mab"), result("posse", figures={"y": 2})]
        once = report.report("", results)
        self.assertEqual(report.report(once, results), once)


if __name__ == "__main__":
    sys.exit(unittest.main())
