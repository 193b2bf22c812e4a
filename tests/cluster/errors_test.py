#!/usr/bin/env python3
"""The table of errors in docs/cluster.md has each value of cluster::errc once, in its order, with a
cause and a remedy.

usage: errors_test.py REPOSITORY
"""
import pathlib
import re
import sys


def main():
    root = pathlib.Path(sys.argv[1])
    header = (root / "posse/cluster/include/basal/cluster/errors.hpp").read_text(encoding="utf-8")
    values = re.findall(r"^  (\w+)(?: = 1)?, +///<", header.partition("enum class errc")[2], re.M)
    rows = re.findall(r"^\| `(\w+)` \| (.+) \| (.+) \|$",
                      (root / "docs/cluster.md").read_text(encoding="utf-8"), re.M)
    assert len(values) > 10, values
    assert [code for code, _, _ in rows] == values, f"the table has {rows}, errc has {values}"


if __name__ == "__main__":
    main()
