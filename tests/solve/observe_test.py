#!/usr/bin/env python3
"""The solver of `solve --observe`, in the statistics that its observer shows.

usage: observe_test.py SOLVE

Exit status 77 in a build without an observer: ctest counts it as skipped.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.request

SIDE = 60  # points of the square of the five-point Laplacian
PATIENCE = 60  # seconds


def laplacian():
    entries = []
    for row in range(SIDE):
        for column in range(SIDE):
            here = row * SIDE + column + 1
            entries.append(f"{here} {here} 4")
            if column + 1 < SIDE:
                entries.append(f"{here + 1} {here} -1")
            if row + 1 < SIDE:
                entries.append(f"{here + SIDE} {here} -1")
    return (f"%%MatrixMarket matrix coordinate real symmetric\n{SIDE ** 2} {SIDE ** 2} "
            f"{len(entries)}\n" + "\n".join(entries) + "\n")


def main():
    program = sys.argv[1]
    usage = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    if "--observe" not in usage:
        print("this build has no observer: skipped")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        matrix = pathlib.Path(folder, "a.mtx")
        matrix.write_text(laplacian())
        # More than it solves before it is ended.
        running = subprocess.Popen(
            [program, matrix, "--rhs", "1000000", "--batch", "100", "--executors", "2",
             "--method", "conjugate_gradient", "--observe=127.0.0.1:0"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            found = None
            while not found:
                line = running.stdout.readline()
                assert line, "no observer"
                found = re.search(r"(http://\S+)/\?token=(\S+)", line)
            url, token = found.groups()
            end = time.monotonic() + PATIENCE
            while True:
                request = urllib.request.Request(url + "/api/v1/snapshot",
                                                 headers={"Authorization": f"Bearer {token}"})
                with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                    solver = json.load(answer)["stats"]["solver"]
                if solver["methods"]:
                    break
                assert time.monotonic() < end, solver
                time.sleep(0.1)
        finally:
            running.kill()
            running.wait()
        assert solver["solvers"] == 1, solver
        assert solver["permits"] == 4, solver
        (method,) = solver["methods"]
        assert method["name"] == "conjugate_gradient", solver
        assert {"name": "stalled", "solves": 0} in method["ended"], solver
        assert method["times"]["p99_ns"] > 0, solver


if __name__ == "__main__":
    main()
