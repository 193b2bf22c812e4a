#!/usr/bin/env python3
"""Every public entity has a comment, and doxygen understands it.

usage: public_comments.py ROOT

Prints doxygen's warnings and `figure public_entities_without_comment N`; exits 1 if there is any
warning. What is public: see docs/public_api.py.
"""
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs"))
import public_api  # noqa: E402


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as output:
        warnings = public_api.read(sys.argv[1], output)
    for line in warnings:
        print(line)
    print("figure public_entities_without_comment",
          sum("is not documented" in line for line in warnings))
    sys.exit(1 if warnings else 0)


if __name__ == "__main__":
    main()
