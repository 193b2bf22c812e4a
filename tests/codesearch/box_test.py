#!/usr/bin/env python3
"""Queries in the box of the observer's page.

usage: box_test.py CODESEARCH

Exit status 77 in a build without an observer: ctest counts it as skipped.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request


def main():
    program = sys.argv[1]
    usage = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    if "--observe" not in usage:
        print("this build has no observer: skipped")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "f.c").write_text("alpha\nbeta gamma\n")
        # It waits for queries on its standard input, and so stays.
        running = subprocess.Popen([program, folder, "--query", "-", "--observe=127.0.0.1:0"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        try:
            url = token = None
            for line in running.stderr:
                if found := re.search(r"(http://\S+)/\?token=(\S+)", line):
                    url, token = found.groups()
                    break
            assert url, "no observer"
            while not running.stdout.readline().startswith("summary mb_per_s"):
                pass

            def ask(question):
                request = urllib.request.Request(
                    f"{url}/api/v1/ask{question}", headers={"Authorization": f"Bearer {token}"})
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return json.load(answer)

            assert ask("")["label"] == "Search the index"
            answer = ask("?text=" + urllib.parse.quote("gam*"))["answer"]
            assert 'query "gam*": 1 of 1 files' in answer, answer
            assert answer.rstrip().endswith("f.c:2: beta gamma"), answer
            assert "word" in ask("?text=" + urllib.parse.quote("!"))["answer"]
        finally:
            running.stdin.close()
            running.stdout.read()
            status = running.wait()
    assert status == 0, status


if __name__ == "__main__":
    main()
