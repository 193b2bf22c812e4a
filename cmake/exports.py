#!/usr/bin/env python3
"""Writes the version script of a shared library: it exports what installed headers declare in
namespaces, and nothing else. The headers are the library's own and those of the modules below it,
since inline variables, and what tells types apart, must be the same in all libraries and programs.

usage: exports.py VERSION OUTPUT HEADER...

The headers are formatted: declarations in a namespace begin in the first column. A name that is
found by mistake does no harm where the library defines nothing of that name. The patterns are
prefixes of mangled names (Itanium C++ ABI, 5.1.2), in which each identifier comes after its length,
so none matches a longer identifier.
"""
import re
import sys

# The beginnings of mangled names, before the nested name: functions, const ones, variables of
# functions, their guards, type information, tables of virtual functions, thunks, thread-local
# variables.
PREFIXES = ("_ZN", "_ZNK", "_ZNR", "_ZNO", "_ZNKR", "_ZZN", "_ZZNK", "_ZZZN", "_ZZZNK",
            "_ZGVN", "_ZGVZN", "_ZGVZNK", "_ZGVZZN", "_ZGVZZNK",
            "_ZTIN", "_ZTSN", "_ZTVN", "_ZTTN", "_ZTCN", "_ZTh*_N", "_ZTh*_NK", "_ZTv*_N",
            "_ZTv*_NK", "_ZTHN", "_ZTWN")
# The operators that are not members of a class, by what names them in mangled names.
OPERATORS = {"==": "eq", "<=>": "ss", "<<": "ls", "|": "or", "&": "an", "|=": "oR"}
NOT_DECLARED = ("}", "using ", "static_assert", "requires")


def mangled(name):
    return f"{len(name)}{name}"


def names_in(line):
    """The mangled names that a line may declare."""
    attributes = r"(?:(?:alignas\([^)]*\)|\[\[.*\]\]) )?"
    if match := re.match(rf"(?:class|struct|union) {attributes}(\w+)", line):
        # A type that is only announced here is defined in another header, or is private.
        return [] if line.rstrip().endswith(";") and "{" not in line else [mangled(match[1])]
    operators = [OPERATORS[found] for found in re.findall(r"operator([^\s\w(]+)\(", line)
                 if found in OPERATORS]
    return operators + [mangled(name) for name in re.findall(r"([a-z_]\w*)(?=[({;[]| =)", line)]


def exported(header):
    """(namespaces, mangled name) of what the header declares."""
    inside = [] # of each open namespace its names, and how many braces are open around it
    open_braces = 0
    for line in header.split("\n"):
        if line.startswith("#"):
            continue
        line = re.sub(r"""'(?:\\.|[^'\\])'|"(?:\\.|[^"\\])*"|//.*""", "", line)
        namespaces = [name for names, _ in inside for name in names]
        if match := re.match(r"(?:inline )?namespace ([\w:]+) \{", line):
            inside.append((match[1].split("::"), open_braces))
        elif namespaces[:1] == ["basal"] and (
                re.search(r"friend (?!class|struct)", line)
                or (line and not line[0].isspace() and not line.startswith(NOT_DECLARED))):
            for name in names_in(line):
                yield "".join(map(mangled, namespaces)), name
        open_braces += line.count("{") - line.count("}")
        while inside and open_braces <= inside[-1][1]:
            inside.pop()


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    version, output, headers = sys.argv[1], sys.argv[2], sys.argv[3:]
    names = set()
    for path in headers:
        with open(path, encoding="utf-8") as file:
            names.update(exported(file.read()))
    lines = [f"{version} {{", "  global:"]
    for namespaces, name in sorted(names):
        lines.append("    " + " ".join(f"{prefix}{namespaces}{name}*;" for prefix in PREFIXES))
    lines += ["  local:", "    *;", "};", ""]
    with open(output, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


if __name__ == "__main__":
    main()
