#!/usr/bin/env python3
"""A stranger's first hour: does literally what README.md and the tutorial's first three chapters
say, in a Debian that has nothing yet.

usage: trial.py RELEASE ROOT [--cpus LIST]   makes ROOT from Debian's archive and tries there
       trial.py --list                       prints what would be done

RELEASE: bookworm or trixie, for which one must be root. LIST: the CPUs to use, as taskset takes
them; by default the first two on which this program may run. The steps are the documents' code
blocks: programs are saved under the name that the text gives, blocks of shell commands run in the
project's folder, and what a tutorial's program prints is compared. Prints the seconds of each step,
those of CPU time, by which steps can be compared on a busy machine, the machine's load after it,
and `figure trial_minutes N`; exits 1 at the first step that fails.
"""
import argparse
import os
import re
import resource
import shlex
import subprocess
import sys
import time

PROJECT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
CHAPTERS = 3
FOLDER = "/root/basal"
OWN_MOUNTS = ["unshare", "--mount", "--propagation", "private"]
# A file in each root that this program has made: no other folder is ever removed.
MARK = ".made-by-basal-trial"


def blocks(text):
    """(kind, lines) of each code block: the language of a fenced one, "indented" for others."""
    lines = iter(text.split("\n") + [""])
    found, inside = [], []
    for line in lines:
        if match := re.match(r"```(.*)", line):
            body = []
            for inner in lines:
                if inner.startswith("```"):
                    break
                body.append(inner)
            found.append((match[1], body))
        elif line.startswith("    "):
            inside.append(line[4:])
        elif inside and line.strip() == "":
            found.append(("indented", inside))
            inside = []
        else:
            inside = []
    return found


def readme_steps(text):
    """Steps: ("save", name, text), ("run", command, None)."""
    name = re.search(r"Save it as `([\w.]+)`", text)[1]
    steps = []
    for kind, body in blocks(text):
        if kind == "cpp":
            steps.append(("save", name, "\n".join(body) + "\n"))
        elif kind == "sh" or (kind == "indented" and all(b.startswith("./dev") for b in body)):
            if kind == "sh":
                steps.append(("run", "\n".join(body), None))
            else:
                steps += [("run", re.sub(r"\s+#.*", "", one), None) for one in body]
    return steps


def tutorial_steps(text, read):
    """The same of the first chapters, with ("run", command, output) where the output is shown."""
    steps = []
    for chapter in text.split("\n## ")[1:CHAPTERS + 1]:
        command = None
        for kind, body in blocks(chapter):
            if kind == "sh":
                if command:
                    steps.append(("run", command, None))
                command = "\n".join(body)
            elif match := re.match(r"\{literalinclude\} \.\./(.*\.expected)", kind):
                if command:
                    steps.append(("run", command, read(match[1])))
                    command = None
        if command:
            steps.append(("run", command, None))
    return steps


def steps():
    def read(name):
        with open(os.path.join(PROJECT, name), encoding="utf-8") as file:
            return file.read()

    return readme_steps(read("README.md")) + tutorial_steps(read("docs/tutorial.md"), read)


def inside(root, command, cpus):
    """Runs a command in the new root with the machine's devices, in its own mount namespace."""
    place = shlex.quote(root)
    script = (f"for i in dev proc sys; do mount --rbind /$i {place}/$i; done; "
              f"exec taskset -c {cpus} chroot {place} env -i HOME=/root TERM=dumb LANG=C.UTF-8 "
              f"PATH=/usr/sbin:/usr/bin:/sbin:/bin bash -ec {shlex.quote(command)}")
    return subprocess.run([*OWN_MOUNTS, "bash", "-ec", script], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True, check=False)


def files():
    """The project's files, those that git knows, or all but what was built; ended by zeros each."""
    if os.path.exists(os.path.join(PROJECT, ".git")):
        command = ["git", "ls-files", "-z"]
    else:
        command = ["find", ".", "-path", "./build", "-prune", "-o", "-type", "f", "-print0"]
    return subprocess.run(command, cwd=PROJECT, check=True, stdout=subprocess.PIPE).stdout


def make_root(release, root):
    listed = files()
    if os.path.exists(root):
        if not os.path.exists(os.path.join(root, MARK)):
            sys.exit(f"trial: {root} exists, and no trial has made it; name another folder")
        subprocess.run(["rm", "-rf", "--one-file-system", root], check=True)
    os.makedirs(root)
    with open(os.path.join(root, MARK), "w", encoding="utf-8"):
        pass
    subprocess.run([*OWN_MOUNTS, "debootstrap", "--variant=minbase", release, root], check=True,
                   stdout=subprocess.DEVNULL)
    # The way to the archive, as the machine has it.
    subprocess.run(["cp", "-L", "/etc/resolv.conf", root + "/etc"], check=True)
    ways = subprocess.run(["apt-config", "dump", "Acquire::http", "Acquire::https",
                           "Acquire::Check-Date", "Acquire::Check-Valid-Until"],
                          check=True, stdout=subprocess.PIPE).stdout
    with open(root + "/etc/apt/apt.conf.d/00ways", "wb") as file:
        file.write(ways)
    folder = root + FOLDER
    os.makedirs(folder)
    packed = subprocess.run(["tar", "--create", "--null", "--files-from", "-"], cwd=PROJECT,
                            input=listed, check=True, stdout=subprocess.PIPE)
    subprocess.run(["tar", "--extract", "--directory", folder], input=packed.stdout, check=True)


def cpu_seconds():
    """Of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def attempt(root, cpus):
    total = 0.0
    for kind, what, more in steps():
        if kind == "save":
            with open(f"{root}{FOLDER}/{what}", "w", encoding="utf-8") as file:
                file.write(more)
            continue
        start = time.monotonic()
        start_cpu = cpu_seconds()
        done = inside(root, f"cd {FOLDER}\n{what}", cpus)
        seconds = time.monotonic() - start
        cpu = cpu_seconds() - start_cpu
        total += seconds
        load = os.getloadavg()[0]
        print(f"{seconds:6.0f} s {cpu:6.0f} s  load {load:4.1f}  {what.splitlines()[-1]}",
              flush=True)
        if done.returncode != 0 or (more is not None and done.stdout != more):
            print(done.stdout[-4000:])
            sys.exit(f"trial: exit status {done.returncode}"
                     + ("" if more is None else f"; expected:\n{more}"))
    print(f"figure trial_minutes {total / 60:.1f}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("release", nargs="?", choices=("bookworm", "trixie"))
    parser.add_argument("root", nargs="?")
    allowed = sorted(os.sched_getaffinity(0))[:2]
    parser.add_argument("--cpus", default=",".join(map(str, allowed)))
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        for kind, what, _ in steps():
            print(f"{kind}: {what}")
        return
    if not options.root:
        sys.exit(__doc__)
    if os.geteuid() != 0:
        sys.exit("trial: only root makes a new root folder; try it with sudo")
    root = os.path.abspath(options.root)
    make_root(options.release, root)
    attempt(root, options.cpus)


if __name__ == "__main__":
    main()
