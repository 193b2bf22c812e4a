#!/usr/bin/env python3
"""Takes rules out of the code, one at a time, and expects the tests that watch over them to fail.

usage: mutate.py [NAME | FILE | FILE:LINE]...
       mutate.py --list [NAME | FILE | FILE:LINE]...
       mutate.py --check [BUILD_DIR]

The rules stand in *.toml beside this file, one table each:

    [name-of-the-mutant]
    rule    = "what holds as long as the line is there"
    file    = "executors/src/executor.cpp"
    find    = "text that occurs exactly once in the file"
    replace = "what stands there without the rule"
    tests   = ["executors.stepped.test"]  # ctest's names; one of them must fail
    targets = ["executors.stepped.test"]  # to build; may be left out where it equals `tests`

Works in a copy of the tree in build/mutate. Prints one line a mutant and exits 1 if one
survived, is stale or does not compile. Without arguments it replays all of them, and goes on
where an interrupted replay of the same tree ended. --check builds nothing: it only looks
whether every text is found and, with BUILD_DIR, whether ctest knows every test.
"""
import dataclasses
import enum
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "house"))
from registered_tests import registered_tests


@dataclasses.dataclass(frozen=True)
class Mutant:
    name: str
    rule: str
    file: str
    find: str
    replace: str
    tests: list
    targets: list = None

    def to_build(self):
        return self.tests if self.targets is None else self.targets


class Verdict(enum.Enum):
    KILLED = "killed by"
    SURVIVED = "SURVIVED"
    STALE = "STALE:"
    DOES_NOT_COMPILE = "DOES NOT COMPILE:"


class BadList(Exception):
    """An error in a list of mutants, or in the tree before anything was changed."""


# -- the lists -----------------------------------------------------------------


def read_lists(folder):
    mutants = {}
    for list_name in sorted(n for n in os.listdir(folder) if n.endswith(".toml")):
        with open(os.path.join(folder, list_name), "rb") as file:
            try:
                tables = tomllib.load(file)
            except tomllib.TOMLDecodeError as error:
                raise BadList(f"{list_name}: {error}") from error
        for name, table in tables.items():
            try:
                mutant = Mutant(name=name, **table)
            except TypeError as error:
                raise BadList(f"{list_name}: [{name}]: {error}") from error
            if name in mutants:
                raise BadList(f"{list_name}: [{name}] is in another list, too")
            if not mutant.tests or mutant.find == mutant.replace:
                raise BadList(f"{list_name}: [{name}] names no test or changes nothing")
            mutants[name] = mutant
    return list(mutants.values())


def text_of(root, mutant):
    try:
        with open(os.path.join(root, mutant.file), encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def lines_of(root, mutant):
    """The first and the last line of the text that is replaced, or None if it is stale."""
    text = text_of(root, mutant)
    if text.count(mutant.find) != 1:
        return None
    before = text[:text.index(mutant.find)].count("\n") + 1
    return before, before + mutant.find.rstrip("\n").count("\n")


def stale_reason(root, mutant):
    count = text_of(root, mutant).count(mutant.find)
    return None if count == 1 else f"its text occurs {count} times in {mutant.file}"


def select(root, mutants, wanted):
    """Those that one of the arguments names; all if there is none."""
    def names(argument, mutant):
        file, _, line = argument.partition(":")
        if argument == mutant.name:
            return True
        if os.path.normpath(file) != mutant.file:
            return False
        found = lines_of(root, mutant)
        return not line or (found and found[0] <= int(line) <= found[1])

    for argument in wanted:
        if not any(names(argument, m) for m in mutants):
            raise BadList(f"no mutant is called {argument} or touches it; see --list")
    return [m for m in mutants if not wanted or any(names(a, m) for a in wanted)]


def check(root, mutants, build_dir):
    """Yields what is wrong with the lists as the tree is now."""
    for mutant in mutants:
        if reason := stale_reason(root, mutant):
            yield f"{mutant.name}: {reason}"
    if not build_dir:
        return
    known = {test["name"] for test in registered_tests(build_dir)}
    modules = {name.split(".")[0] for name in known}
    for mutant in mutants:
        for test in mutant.tests:
            if test not in known and test.split(".")[0] in modules:  # not of a module left out
                yield f"{mutant.name}: ctest knows no test {test}"


# -- the copy ------------------------------------------------------------------


def project_files(root):
    if os.path.exists(os.path.join(root, ".git")):
        names = subprocess.run(
            ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            check=True, capture_output=True, text=True).stdout.split("\0")
    else:
        names = []
        for folder, subfolders, files in os.walk(root):
            subfolders[:] = [s for s in subfolders if s not in ("build", "__pycache__")]
            names += [os.path.relpath(os.path.join(folder, f), root) for f in files]
    return sorted(n for n in set(names) if n and os.path.isfile(os.path.join(root, n)))


def read_bytes(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


class Copy:
    """A copy of the tree, built where it is; for one replay at a time."""

    def __init__(self, root):
        self.root = os.path.join(root, "build", "mutate")
        self.build_dir = os.path.join(self.root, "build", "dev")
        self.log_dir = os.path.join(self.root, "build", "log")
        os.makedirs(self.log_dir, exist_ok=True)
        self.lock = open(os.path.join(self.root, "build", "lock"), "w", encoding="utf-8")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self.lock.close()
            raise BadList("another replay is at work in build/mutate") from error

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lock.close()

    def update(self, root):
        """Makes the copy equal to the tree; files that are the same keep their times, and what
        was made of them is not made again. Returns a digest of what can matter to a test."""
        files = project_files(root)
        for name in set(project_files(self.root)) - set(files):
            os.remove(os.path.join(self.root, name))
        digest = hashlib.sha256()
        for name in files:
            source, target = os.path.join(root, name), os.path.join(self.root, name)
            content = read_bytes(source)
            if not name.startswith("tests/mutants/") and not name.endswith(".md"):
                digest.update(name.encode() + b"\0" + content + b"\0")
            if read_bytes(target) != content:
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copyfile(source, target)
            shutil.copymode(source, target)
        return digest.hexdigest()

    def run(self, log_name, command):
        with open(os.path.join(self.log_dir, log_name + ".log"), "w+", encoding="utf-8",
                  errors="replace") as log:
            status = subprocess.run(command, cwd=self.root, stdout=log, stderr=log,
                                    check=False).returncode
            log.seek(0)
            return status, log.read()

    def configure(self):
        # Unoptimised programs would be compiled faster, and the tests take longer.
        status, _ = self.run("configure", ["cmake", "--preset", "dev", "-DBASAL_WERROR=OFF",
                                           "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1"])
        if status != 0:
            raise BadList(f"cmake failed; see {self.log_dir}/configure.log")

    def build(self, log_name, targets):
        if not targets:
            return True
        return self.run(log_name + ".build", ["cmake", "--build", self.build_dir, "--parallel",
                                              str(os.cpu_count()), "--target", *targets])[0] == 0

    def first_failure(self, log_name, tests):
        """The test that failed, and in it the case, or None."""
        pattern = "^(" + "|".join(re.escape(t) for t in tests) + ")$"
        status, text = self.run(log_name + ".test", [
            "ctest", "--test-dir", self.build_dir, "-R", pattern, "--output-on-failure",
            "--stop-on-failure", "--no-tests=error"])
        if status == 0:
            return None
        failed = re.search(r"^\s*\d+ - (\S+) \(([^()]+)\)", text, re.MULTILINE)
        if not failed:
            raise BadList(f"ctest found no test; see {self.log_dir}/{log_name}.test.log")
        case = re.search(r"^-{70,}\n(.+?)\n-{70,}$", text, re.MULTILINE | re.DOTALL)  # Catch2's
        how = "" if failed[2] == "Failed" else f" ({failed[2]})"
        return failed[1] + how + (": " + " ".join(case[1].split()) if case else "")

    def replay(self, mutant):
        """Takes the rule out, builds, tests, and puts it back."""
        path = os.path.join(self.root, mutant.file)
        text = text_of(self.root, mutant)
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace(mutant.find, mutant.replace))
            if not self.build(mutant.name, mutant.to_build()):
                return Verdict.DOES_NOT_COMPILE, f"see {self.log_dir}/{mutant.name}.build.log"
            killer = self.first_failure(mutant.name, mutant.tests)
        finally:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return (Verdict.KILLED, killer) if killer else (Verdict.SURVIVED, ", ".join(mutant.tests))


# -- the replay ----------------------------------------------------------------


class Progress:
    """Findings of an interrupted replay of all mutants, for the same tree."""

    def __init__(self, path, digest):
        self.path = path
        self.found = {"tree": digest, "mutants": {}}
        if stored := read_bytes(path):
            stored = json.loads(stored)
            if stored["tree"] == digest:
                self.found = stored

    def verdict_of(self, mutant):
        stored = self.found["mutants"].get(repr(mutant))
        return (Verdict(stored[0]), stored[1]) if stored else None

    def remember(self, mutant, verdict, detail):
        self.found["mutants"][repr(mutant)] = [verdict.value, detail]
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(self.found, file)

    def forget(self):
        if os.path.exists(self.path):
            os.remove(self.path)


def expect_that_all_pass(copy, mutants):
    """A test that fails by itself would seem to notice everything."""
    targets = sorted({t for m in mutants for t in m.to_build()})
    if not copy.build("unchanged", targets):
        raise BadList(f"the tree does not compile; see {copy.log_dir}/unchanged.build.log")
    if failure := copy.first_failure("unchanged", sorted({t for m in mutants for t in m.tests})):
        raise BadList(f"fails although nothing was changed: {failure}")


def replay(root, copy, mutants, resume):
    """Whether all mutants were killed."""
    progress = Progress(os.path.join(copy.root, "build", "progress.json"), copy.update(root))
    verdicts = {m.name: progress.verdict_of(m) if resume else None for m in mutants}
    for mutant in mutants:
        if reason := stale_reason(root, mutant):
            verdicts[mutant.name] = Verdict.STALE, reason
    left = [m for m in mutants if not verdicts[m.name]]
    if left:
        print("mutate: builds and runs the tests without a mutant ...", file=sys.stderr)
        copy.configure()
        expect_that_all_pass(copy, left)
    for mutant in sorted(mutants, key=lambda m: m.file):  # neighbours share what is compiled
        verdict, detail = verdicts[mutant.name] or copy.replay(mutant)
        verdicts[mutant.name] = verdict, detail
        if resume:
            progress.remember(mutant, verdict, detail)
        print(f"{mutant.name}: {verdict.value} {detail}", flush=True)
    if resume:
        progress.forget()
    counts = {v: sum(1 for found, _ in verdicts.values() if found == v) for v in Verdict}
    print(f"{counts[Verdict.KILLED]} killed, {counts[Verdict.SURVIVED]} survived, "
          f"{counts[Verdict.STALE]} stale, {counts[Verdict.DOES_NOT_COMPILE]} not compiled")
    return counts[Verdict.KILLED] == len(mutants)


def main(arguments, root):
    folder = os.path.join(root, "tests", "mutants")
    options = {a for a in arguments if a.startswith("-")}
    wanted = [a for a in arguments if not a.startswith("-")]
    if len(options) > 1 or not options <= {"--list", "--check"}:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        mutants = read_lists(folder)
        if "--check" in options:
            found = list(check(root, mutants, wanted[0] if wanted else None))
            print("\n".join(found) if found else f"{len(mutants)} mutants, none is stale")
            return 1 if found else 0
        chosen = select(root, mutants, wanted)
        if "--list" in options:
            for m in chosen:
                line = (lines_of(root, m) or ["stale"])[0]
                print(f"{m.name}: {m.file}:{line}: {m.rule} ({', '.join(m.tests)})")
            return 0
        with Copy(root) as copy:
            return 0 if replay(root, copy, chosen, resume=not wanted) else 1
    except BadList as error:
        print(f"mutate: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    HERE = os.path.dirname(os.path.abspath(__file__))
    sys.exit(main(sys.argv[1:], os.path.dirname(os.path.dirname(HERE))))
