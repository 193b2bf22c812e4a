#!/usr/bin/env python3
"""The house rules that a machine can check, as one fast test.

usage: tidy.py ROOT [BUILD_DIR]

Prints `file:line: finding` and exits 1 if there is any. With BUILD_DIR it also asks
ctest whether every registered test has a timeout. Each rule is a function that yields
(path, line, finding); tidy_selftest.py breaks each one on purpose.
"""
import os
import re
import subprocess
import sys

from registered_tests import registered_tests

MAX_COLUMNS = 100
MAX_LINES = 500
MAX_BYTES = 400_000  # bigger things are data; they are generated or fetched, not tracked

CXX = (".cpp", ".hpp")
CODE = CXX + (".cmake", "CMakeLists.txt", ".py", ".sh", ".js", ".ts", ".html", "/dev", "/run")

# A module may include its own headers and those of the modules named here.
ARROWS = {
    "executors": set(),
    "mab": set(),
    "priority": {"executors"},
    "posse": {"executors"},
    "cluster": {"executors", "posse"},
    "solver": {"executors"},
    "actors": {"executors", "mab", "priority", "posse"},
    "solver_service": {"executors", "posse", "solver", "actors"},
    "observer": {"executors", "mab", "priority", "posse", "actors"},
    "remote": {"actors"},
}
# Modules that are not in the folder of their name.
FOLDERS = {"observer": "actors/observer", "solver_service": "actors/solver_service",
           "cluster": "posse/cluster", "remote": "actors/remote"}
# Headers of libraries, and the modules that alone may name them.
OWNED_INCLUDES = {"caf/": {"actors", "observer", "remote", "solver_service"},
                  "spdlog/": {"actors"}, "gc/": {"posse"}, "openssl/": {"remote"},
                  "gc.h": {"posse"}, "boost/context/": {"executors"}, "civetweb": {"observer"},
                  "prometheus/": {"observer"}, "nats/": {"cluster"}, "nlohmann/": {"observer"}}


def project_files(root):
    """Tracked files and those about to be; all but build/ where there is no git."""
    if os.path.exists(os.path.join(root, ".git")):
        out = subprocess.run(
            ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            check=True, capture_output=True, text=True).stdout
        names = out.split("\0")
    else:
        names = []
        for folder, subfolders, files in os.walk(root):
            subfolders[:] = [s for s in subfolders if s not in ("build", ".git", "__pycache__")]
            names += [os.path.relpath(os.path.join(folder, f), root) for f in files]
    return sorted(n for n in names if n and os.path.isfile(os.path.join(root, n)))


class Tree:
    """The files of the project with their text (None for what is not UTF-8 text)."""

    def __init__(self, root):
        self.root = root
        self.text = {}
        for name in project_files(root):
            try:
                with open(os.path.join(root, name), encoding="utf-8", newline="") as file:
                    self.text[name] = file.read()
            except UnicodeDecodeError:
                self.text[name] = None

    def named(self, *endings):
        for name, text in self.text.items():
            if text is not None and ("/" + name).endswith(endings):
                yield name, text

    def lines(self, *endings):
        for name, text in self.named(*endings):
            for number, line in enumerate(text.split("\n"), 1):
                yield name, number, line


def without_literals(line):
    """Blanks string and character literals, so that rules see only code and comments."""
    return re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])*\'', '""', line)


def module_of(name):
    for module, folder in FOLDERS.items():
        if name.startswith(folder + "/"):
            return module
    folder = name.split("/")[0]
    return folder if folder in ARROWS else None


def long_lines(tree):
    for name, number, line in tree.lines(*CODE):
        if len(line) > MAX_COLUMNS:
            yield name, number, f"{len(line)} columns; the limit is {MAX_COLUMNS}"


def white_space(tree):
    for name, number, line in tree.lines(*CODE, ".md", ".json"):
        if "\t" in line:
            yield name, number, "tab"
        if line != line.rstrip():
            yield name, number, "space (or carriage return) at the end of the line"
    for name, text in tree.named(*CODE, ".md", ".json"):
        if text and (not text.endswith("\n") or text.endswith("\n\n")):
            yield name, text.count("\n") + 1, "must end with exactly one newline"


def banned_words(tree):
    rules = []
    for line in tree.text.get("tests/house/banned_words.txt", "").split("\n"):
        if line and not line.startswith("#"):
            pattern, reason = line.split("  ", 1)
            rules.append((re.compile(pattern), reason.strip()))
    for name, number, line in tree.lines(*CODE):
        if name.startswith("tests/house/"):
            continue
        for pattern, reason in rules:
            if pattern.search(line):
                yield name, number, f"'{pattern.pattern}': {reason}"


def comments(tree):
    for name, number, line in tree.lines(*CXX):
        if "/*" in re.sub(r"//.*", "", without_literals(line)):
            yield name, number, "C-style comment; write // or ///"


def pragma_once(tree):
    for name, text in tree.named(".hpp"):
        directive = re.search(r"^\s*#.*$", text, re.MULTILINE)
        if not directive or directive.group().strip() != "#pragma once":
            yield name, 1, "the first directive of a header is #pragma once"


def arrows(tree):
    for name, number, line in tree.lines(*CXX):
        module = module_of(name)
        include = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if not module or not include:
            continue
        bracket, header = include.groups()
        if bracket == '"' and "/include/basal/" in name:
            yield name, number, f'public headers write #include <basal/...>, not "{header}"'
        other = re.match(r"basal/([a-z_]+)/", header)
        if other and other.group(1) != module and other.group(1) not in ARROWS[module]:
            yield name, number, f"{module} may not use {other.group(1)}: that arrow points up"
        for prefix, owners in OWNED_INCLUDES.items():
            if header.startswith(prefix) and module not in owners:
                named = " and ".join(sorted(owner + "/" for owner in owners))
                yield name, number, f"<{prefix}...> is named in {named} alone"


def declared_modules(tree):
    """Each basal_add_module(...): its file, its name, and its words by keyword."""
    for name, text in tree.named("CMakeLists.txt"):
        for module, body in re.findall(r"basal_add_module\((\w+)([^()]*)\)", text):
            words, keyword = {}, None
            for word in re.sub(r"#.*", "", body).split():
                if re.fullmatch(r"HEADERS|SOURCES|(PUBLIC|PRIVATE)_LIBS", word):
                    keyword = word
                elif keyword:
                    words.setdefault(keyword, []).append(word)
            yield name, module, words


def links_and_includes(tree):
    """A module links the modules that its files include, and no others."""
    linked = {}
    modules = list(declared_modules(tree))
    for _, module, words in modules:
        libs = words.get("PUBLIC_LIBS", []) + words.get("PRIVATE_LIBS", [])
        linked[module] = {lib[len("basal::"):] for lib in libs if lib.startswith("basal::")}
    reached = {}
    for module in linked:
        todo = [module]
        reached[module] = set()
        while todo:
            at = todo.pop()
            if at not in reached[module]:
                reached[module].add(at)
                todo.extend(linked.get(at, ()))
    for name, module, words in modules:
        folder = os.path.dirname(name)

        included = set()
        for file in words.get("HEADERS", []) + words.get("SOURCES", []):
            path = f"{folder}/{file}"
            others = set(re.findall(r"^\s*#\s*include\s*<basal/(\w+)/",
                                    tree.text.get(path) or "", re.MULTILINE))
            included |= others
            for other in sorted(others & ARROWS.get(module, others)):
                if other not in reached[module]:
                    yield path, 1, f"{module} includes {other} and does not link it"
        for lib in sorted(linked[module] - included):
            yield name, 1, f"{module} links {lib} and includes nothing of it"


def dead_files(tree):
    lists = {os.path.dirname(n): t for n, t in tree.named("CMakeLists.txt")}
    included = set()
    for name, text in tree.named(*CXX):
        for header in re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', text, re.MULTILINE):
            included.add(header)
            included.add(os.path.normpath(os.path.join(os.path.dirname(name), header)))
    for name, _ in tree.named(*CXX):
        if any(is_listed(name, folder, text) for folder, text in lists.items()):
            continue
        if any(name.startswith(folder + "/include/basal/") and "include/basal/" in text
               for folder, text in lists.items()):
            yield name, 1, "no CMakeLists.txt names it, so it is not installed"
            continue
        if any(name.endswith("/" + h) or name == h for h in included if h.endswith(CXX)):
            continue
        yield name, 1, "dead file: no CMakeLists.txt names it and nothing includes it"


def is_listed(name, folder, text):
    if folder and not name.startswith(folder + "/"):
        return False
    relative = os.path.relpath(name, folder or ".")
    if re.search(r"(?<![\w./-])" + re.escape(relative) + r"(?![\w.-])", text):
        return True
    # basal_add_test(NAME module/subject KIND kind) names its source by convention.
    test = re.fullmatch(r"(.+)\.(test|model|stress|regression)\.cpp", relative)
    if not test:
        return False
    subject = re.escape(test.group(1))
    kind = "contract" if test.group(2) == "test" else test.group(2)
    if re.search(rf"NAME\s+\w+/{subject}\s+KIND\s+{kind}\b", text):
        return True
    looped = re.search(rf"NAME\s+\w+/\$\{{\w+\}}\s+KIND\s+{kind}\b", text)
    return bool(looped and re.search(rf"(?<![\w/.-]){subject}(?![\w/.-])", text))


def long_files(tree):
    """Past 500 lines a file says at its top why it is one piece."""
    for name, text in tree.named(*CXX):
        lines = text.count("\n")
        if lines > MAX_LINES and not re.match(r"(#pragma once\s+)?//", text):
            yield name, 1, f"{lines} lines, and no sentence at the top says why it is one piece"


def big_files(tree):
    for name in tree.text:
        size = os.path.getsize(os.path.join(tree.root, name))
        if size > MAX_BYTES:
            yield name, 1, f"{size} bytes; the limit is {MAX_BYTES}"


def readmes(tree):
    for module in ARROWS:
        folder = FOLDERS.get(module, module)
        if f"{folder}/README.md" not in tree.text:
            yield f"{folder}/README.md", 1, "every module has a README"


def links(tree):
    fenced = False
    for name, number, line in tree.lines(".md"):
        fenced = (number > 1 and fenced) != line.startswith("```")
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", "" if fenced else line):
            path = os.path.join(tree.root, os.path.dirname(name), target)
            if "://" not in target and not os.path.exists(path):
                yield name, number, f"link to {target}, which does not exist"


def quoted_program(tree):
    """The root README's program is samples/hello, which is compiled."""
    program = tree.text.get("samples/hello/main.cpp")
    if program and f"```cpp\n{program}```\n" not in tree.text.get("README.md", ""):
        yield "README.md", 1, "its program is not samples/hello/main.cpp, word for word"


def pasted_code(tree):
    """Programs in the documentation are compiled files, shown by literalinclude."""
    for name, number, line in tree.lines(".md"):
        if name.startswith("docs/") and re.match(r"\s*```(cpp|c\+\+|cmake)\b", line):
            yield name, number, "code that nobody compiles: show a file by literalinclude"


def timeouts(build_dir):
    for test in registered_tests(build_dir):
        if not any(p["name"] == "TIMEOUT" for p in test.get("properties", [])):
            yield "tests", 1, f"test {test['name']} has no TIMEOUT"


RULES = [long_lines, white_space, banned_words, comments, pragma_once, arrows,
         links_and_includes, dead_files, long_files, big_files, readmes, links, quoted_program,
         pasted_code]


def findings(root, build_dir=None):
    tree = Tree(root)
    for rule in RULES:
        yield from rule(tree)
    if build_dir:
        yield from timeouts(build_dir)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    found = list(findings(*sys.argv[1:]))
    for name, line, finding in found:
        print(f"{name}:{line}: {finding}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
