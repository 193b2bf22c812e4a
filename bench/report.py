#!/usr/bin/env python3
"""Writes bench/RESULTS.md from what the benchmarks have measured.

usage: report.py OUTPUT RESULT.json...

One section a module: where and when it was measured, its headline figures, a plot, and a table for
each workload with ours beside the peers, a row for each implementation and a column for each number
of threads. Plots are written to plots/MODULE.svg beside OUTPUT. A module that is not among the
results keeps the section that it has in OUTPUT.
"""
import json
import os
import re
import statistics
import sys

import plot

HEADER = """# Results

Written by `./dev bench --report`, not by hand. Times are medians of wall time, ours and the
peers' in rows of their names. What a workload is, and what a figure is made of and which way it is
better, stands at the top of the benchmark's file in `bench/`.
"""


def duration(nanoseconds):
    """Three significant digits with the unit that fits."""
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= scale:
            return f"{nanoseconds / scale:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def workloads(cases):
    """{workload/size: {implementation: {threads: case}}} in the order of the cases."""
    result = {}
    for case in cases:
        parts = case["name"].split("/")
        if len(parts) < 4:
            parts = ["/".join(parts), "", "", ""]
        workload, implementation, threads = "/".join(parts[:-2]), parts[-2], parts[-1]
        result.setdefault(workload.rstrip("/"), {}).setdefault(implementation, {})[threads] = case
    return result


def workload_table(name, implementations):
    threads = sorted({t for cases in implementations.values() for t in cases},
                     key=lambda t: (not t.isdigit(), int(t) if t.isdigit() else 0, t))
    rows = []
    for implementation, cases in implementations.items():
        row = [implementation]
        for t in threads:
            case = cases.get(t)
            row.append("" if case is None else
                       "failed" if "error" in case else duration(case["median_ns"]))
        rows.append(row)
    head = [f"`{name}`"] + [t if not t.isdigit() else f"{t} thread{'s' if t != '1' else ''}"
                            for t in threads]
    return table(head, rows)


def section(result):
    machine = result["machine"]
    how = "quick run" if result["quick"] else "full run"
    if result["filter"]:
        how += f", only `{result['filter']}`"
    text = f"## {result['module']}\n\n"
    text += (f"{result['date']}, {how}; {machine['cpu']}, {machine['usable_cpus']} CPUs, "
             f"{machine['kernel'].split('-')[0]}; {result['compiler']} {result['flags']}.\n\n")
    lines = machine.get("cache_line_ns")
    if lines:
        text += (f"A cache line to another CPU and back: {statistics.median(lines):.3g} ns, "
                 f"{min(lines):.3g} to {max(lines):.3g} in this run.\n\n")
    if not result["succeeded"]:
        text += "**A case or a figure of this run has failed.**\n\n"
    if result["figures"]:
        text += table(["figure", "value"],
                      [[f"`{name}`", f"{value:.3g}"]
                       for name, value in result["figures"].items()]) + "\n"
    compared = workloads(result["cases"])
    if plot.rows(compared):
        text += f"![Times over the shortest of each workload](plots/{result['module']}.svg)\n\n"
    for name, implementations in compared.items():
        text += workload_table(name, implementations) + "\n"
    return text


def sections_of(text):
    """The sections of an earlier report, by module."""
    parts = re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]
    return {part.split("\n", 1)[0][3:]: part for part in parts}


def report(earlier, results):
    sections = sections_of(earlier)
    sections.update({result["module"]: section(result) for result in results})
    return (HEADER + "\n" + "".join(sections[name] for name in sorted(sections))).rstrip() + "\n"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    output, names = sys.argv[1], sys.argv[2:]
    earlier = ""
    if os.path.exists(output):
        with open(output, encoding="utf-8") as file:
            earlier = file.read()
    results = []
    for name in names:
        with open(name, encoding="utf-8") as file:
            results.append(json.load(file))
    with open(output, "w", encoding="utf-8") as file:
        file.write(report(earlier, results))
    plots = os.path.join(os.path.dirname(output), "plots")
    for result in results:
        drawn = plot.svg(result["module"], workloads(result["cases"]))
        if drawn:
            os.makedirs(plots, exist_ok=True)
            name = os.path.join(plots, f"{result['module']}.svg")
            with open(name, "w", encoding="utf-8") as file:
                file.write(drawn)


if __name__ == "__main__":
    main()
