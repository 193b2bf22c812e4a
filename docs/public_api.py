"""Reads the comments of the public headers, by doxygen.

    read(root, output)    writes XML to `output` and returns doxygen's warnings, one a line

A header is public if it lies in an `include` folder and in no `detail` folder below that. What is
in a namespace `detail` is not public either, nor are specialisations of the standard library's
templates, of which doxygen says that it does not find the scope.
"""
import glob
import os
import re
import subprocess

SETTINGS = """
PROJECT_NAME = basal
RECURSIVE = YES
FILE_PATTERNS = *.hpp
EXCLUDE_PATTERNS = */detail/*
EXCLUDE_SYMBOLS = detail *::detail *::detail::* std std::*
INPUT_FILTER = "sed '/^extern template/,/;/d'"
EXPAND_ONLY_PREDEF = YES
MACRO_EXPANSION = YES
PREDEFINED = "BASAL_EXTERN(T):="
DISTRIBUTE_GROUP_DOC = YES
HIDE_FRIEND_COMPOUNDS = YES
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
QUIET = YES
WARN_IF_UNDOCUMENTED = YES
WARN_IF_INCOMPLETE_DOC = NO
"""
OF_STD = re.compile(r"scope for class std::.* not found!|documented symbol '.* std::ranges::")


def include_folders(root):
    """The modules' folders of headers, beginning at the project's root."""
    found = glob.glob("*/include", root_dir=root) + glob.glob("*/*/include", root_dir=root)
    return sorted(f for f in found if not f.startswith(("build", "tests", "bench", "samples")))


def read(root, output):
    folders = " ".join(include_folders(root))
    settings = (f"{SETTINGS}INPUT = {folders}\nSTRIP_FROM_PATH = {folders}\n"
                f'OUTPUT_DIRECTORY = "{output}"\n')
    os.makedirs(output, exist_ok=True)
    done = subprocess.run(["doxygen", "-"], input=settings, cwd=root, text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    here = os.path.abspath(root) + "/"
    return [line.replace(here, "") for line in done.stderr.split("\n")
            if " warning: " in line and not OF_STD.search(line)]
