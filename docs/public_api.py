"""Reads the comments of the public headers, by doxygen.

    read(root, output)    writes XML to output/xml and returns doxygen's warnings, one a line
    simplify(output)      changes that XML where breathe would not understand it

A header is public if it lies in an `include` folder and in no `detail` folder below that. What is
in a namespace `detail` is not public either, nor are specialisations of the standard library's
templates, of which doxygen says that it does not find the scope.
"""
import glob
import os
import re
import subprocess
import xml.etree.ElementTree as ElementTree

SETTINGS = """
PROJECT_NAME = basal
RECURSIVE = YES
FILE_PATTERNS = *.hpp
EXCLUDE_PATTERNS = */detail/*
EXCLUDE_SYMBOLS = detail *::detail *::detail::* std std::*
INPUT_FILTER = "sed '/^extern template/{:a;/;/!{N;ba;};d}'"
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


def simplify(output):
    """Exceptions become a sentence, since many comments name several of them or say "what
    body throws"; initialisers that Sphinx does not parse, lambdas and designated ones, go."""
    for path in glob.glob(os.path.join(output, "xml", "*.xml")):
        tree = ElementTree.parse(path)
        for parent in tree.iter():
            for listed in parent.findall("parameterlist"):
                if listed.get("kind") == "exception":
                    become_sentences(listed)
            for tag in ("initializer", "defval"):
                value = parent.find(tag)
                if value is not None and re.search(r"\[\]|\{\s*\.", "".join(value.itertext())):
                    parent.remove(value)
        tree.write(path, encoding="utf-8", xml_declaration=True)


def become_sentences(listed):
    items = list(listed)
    tail = listed.tail
    listed.clear()
    listed.tag, listed.tail = "simplesect", tail
    listed.set("kind", "par")
    ElementTree.SubElement(listed, "title").text = "Throws"
    for item in items:
        names = ["".join(name.itertext()) for name in item.find("parameternamelist")]
        for para in item.find("parameterdescription"):
            para.text = f"{', '.join(names)} {para.text or ''}"
            names = []
            listed.append(para)
        if names:
            ElementTree.SubElement(listed, "para").text = ", ".join(names)
