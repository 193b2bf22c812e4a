#!/usr/bin/env python3
"""The dashboard and the alerts against what a scrape has, and promtool's opinion of all three.

usage: prometheus_test.py PROGRAM FOLDER [PROMTOOL]

PROGRAM is page_program, FOLDER has basal.json and alerts.yml. Exit status 77 if there is no
promtool and all else is well: ctest counts it as skipped.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

# A name that an expression looks up, and not a function's or a label's.
NAME = re.compile(r"\b((?:basal|process)_[a-z_]+)\b")


def scraped(path):
    """The text of /metrics of a program that does some of everything."""
    program = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        origin, token = program.stdout.readline().strip().split("/?token=")
        request = urllib.request.Request(
            origin + "/metrics", headers={"Authorization": "Bearer " + token})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read().decode()
    finally:
        program.stdin.close()
        assert program.wait() == 0


def check_names(metrics, dashboard, alerts):
    known = set(re.findall(r"^# TYPE (\S+) ", metrics, re.M))
    known |= {name + part for name in re.findall(r"^# TYPE (\S+) histogram", metrics, re.M)
              for part in ("_bucket", "_sum", "_count")}
    used = set()
    for panel in json.loads(dashboard)["panels"]:
        assert panel["description"], panel["title"]
        for target in panel["targets"]:
            used |= set(NAME.findall(target["expr"]))
    used |= set(NAME.findall("\n".join(re.findall(r"^\s*expr: (.*)$", alerts, re.M))))
    assert len(used) > 20, used
    assert used <= known, f"no scrape has {sorted(used - known)}"
    for kind in re.findall(r'kind="(\w+)"', alerts):
        assert f'basal_warnings_active{{kind="{kind}"}}' in metrics, kind


def main():
    program, folder = sys.argv[1:3]
    promtool = sys.argv[3] if len(sys.argv) > 3 else shutil.which("promtool")
    alerts_file = os.path.join(folder, "alerts.yml")
    metrics = scraped(program)
    with open(os.path.join(folder, "basal.json"), encoding="utf-8") as dashboard, \
            open(alerts_file, encoding="utf-8") as alerts:
        check_names(metrics, dashboard.read(), alerts.read())
    if not promtool:
        print("no promtool here: its checks are skipped")
        sys.exit(77)
    subprocess.run([promtool, "check", "metrics"], input=metrics, text=True, check=True)
    subprocess.run([promtool, "check", "rules", alerts_file], check=True)
    tests = os.path.join(os.path.dirname(os.path.abspath(__file__)), "alerts_test.yml")
    with tempfile.TemporaryDirectory() as together:  # the test names the rules beside it
        for file in (alerts_file, tests):
            shutil.copy(file, together)
        subprocess.run([promtool, "test", "rules", os.path.join(together, "alerts_test.yml")],
                       check=True)


if __name__ == "__main__":
    main()
