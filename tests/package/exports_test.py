#!/usr/bin/env python3
"""usage: exports_test.py SHARED_PREFIX STATIC_PREFIX

What installed shared libraries export, held against what doxygen reads in the installed headers:
each symbol has a version and belongs to what a header declares, so nothing of third parties and
nothing private is there, and whatever a header declares and the archives define is there.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

SETTINGS = """
INPUT = {folder}
RECURSIVE = YES
FILE_PATTERNS = *.hpp
EXTRACT_ALL = YES
INPUT_FILTER = "sed '/^extern template/{{:a;/;/!{{N;ba;}};d}}'"
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = "BASAL_EXTERN(T):="
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
QUIET = YES
WARNINGS = NO
WARN_IF_INCOMPLETE_DOC = NO
OUTPUT_DIRECTORY = {output}
"""
# The beginning of a mangled name, and the identifiers of the nested name after it, each behind its
# length (Itanium C++ ABI, 5.1.2).
BEGINNING = re.compile(r"_Z(?:T[A-Z]|Th\w*?_|Tv\w*?_|GV)?Z*N[KRO]*")
# A lambda is private to the function that it is in, its type's description, too.
LAMBDA = re.compile(r"Ul.*E\d*_")


def declared_in(folder):
    """The qualified names of what the headers in `folder` declare in namespaces; the namespaces."""
    names, namespaces = set(), set()
    with tempfile.TemporaryDirectory() as output:
        subprocess.run(["doxygen", "-"], input=SETTINGS.format(folder=folder, output=output),
                       text=True, check=True, stdout=subprocess.DEVNULL)
        for path in glob.glob(f"{output}/xml/*.xml"):
            for compound in ElementTree.parse(path).iter("compounddef"):
                kind, name = compound.get("kind"), compound.findtext("compoundname")
                if kind in ("class", "struct", "union"):
                    if compound.find("location").get("bodyend") != "-1": # not only announced
                        names.add(re.sub(r"\s*<.*", "", name))
                elif kind == "namespace":
                    namespaces.add(name)
                    names.update(re.sub(r"(::operator)\W.*", r"\1", f"{name}::{member}")
                                 for member in (each.findtext("name")
                                                for each in compound.iter("memberdef")))
    return names, namespaces


def entity(symbol, namespaces):
    """Of a mangled symbol the qualified name of what stands in a namespace: a member's class, say.
    Empty if that is none of basal's; "operator" stands for all operators."""
    match = BEGINNING.match(symbol)
    if not match:
        return ""
    name, rest = "", symbol[match.end():]
    while True:
        length = re.match(r"\d+", rest)
        if not length:
            return f"{name}::operator" if name in namespaces else ""
        end = length.end() + int(length[0])
        name = f"{name}::{rest[length.end():end]}".removeprefix("::")
        rest = rest[end:]
        if name not in namespaces:
            return name


def symbols_of(file, *options):
    """The global symbols that `file` defines, by nm, with their kinds."""
    said = subprocess.run(["nm", "--defined-only", "--extern-only", *options, file],
                          check=True, capture_output=True, text=True).stdout
    return {match[2]: match[1] for line in said.split("\n")
            if (match := re.match(r"[0-9a-f]+ (\w) (.+)", line))}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    shared, static = sys.argv[1:]
    declared, namespaces = declared_in(f"{shared}/include")
    libraries = [path for path in glob.glob(f"{shared}/lib/**/libbasal_*.so", recursive=True)]
    assert libraries, f"no shared library in {shared}"
    wrong, count = [], 0
    for library in sorted(libraries):
        name = os.path.basename(library)[:-len(".so")]
        said = subprocess.run(["readelf", "--dynamic", "--wide", library], check=True,
                              capture_output=True, text=True).stdout
        soname = re.search(r"soname: \[(.*)\]", said)[1]
        version = re.fullmatch(rf"{name}\.so\.(\d+(?:\.\d+)?)", soname)
        if not version:
            wrong.append(f"{name}: its name is {soname}")
            continue
        node = f"BASAL_{version[1]}"
        exported = set()
        for symbol, kind in symbols_of(library, "--dynamic").items():
            if kind == "A" and symbol == node:
                continue
            plain, at, found = symbol.partition("@@")
            exported.add(plain)
            if not at or found != node:
                wrong.append(f"{name}: not of version {node}: {symbol}")
            elif entity(plain, namespaces) not in declared:
                wrong.append(f"{name}: exported, and no header declares it: {plain}")
        archive, = glob.glob(f"{static}/lib/**/{name}.a", recursive=True)
        for symbol in symbols_of(archive):
            if (entity(symbol, namespaces) in declared and symbol not in exported
                    and not LAMBDA.search(symbol)):
                wrong.append(f"{name}: declared in a header, and not exported: {symbol}")
        count += len(exported)
    print(f"{len(libraries)} libraries export {count} symbols")
    for line in wrong:
        print(line)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
