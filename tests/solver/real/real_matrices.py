#!/usr/bin/env python3
"""Fetches 40 real matrices, verifies them, and lets a program solve systems with them.

usage: real_matrices.py FOLDER [PROGRAM [ARGUMENT...]]

The matrices come from the source packages `suitesparse` and `rmatrix` of the Debian that this
machine has, through apt with the mirrors that it has configured; nothing is installed, and apt's
own lists stay as they are. matrices.txt, beside this file, says where each one is and which bytes
are expected. FOLDER keeps them as Matrix Market files from one run to the next.

Exits with what PROGRAM ended with. Exits with 77 where BASAL_REAL_MATRICES is not set, since it
fetches 42 MB, and where the packages cannot be had: then nothing is said about the solver.
"""
import hashlib
import os
import re
import subprocess
import sys
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = ("suitesparse", "rmatrix")


class Unavailable(Exception):
    """Why there are no matrices: offline, no apt, another version."""


# --- what is wanted ----------------------------------------------------------

def wanted():
    """Of matrices.txt: name, format, rows, entries, sha256 of the file, its path's end."""
    with open(os.path.join(HERE, "matrices.txt"), encoding="ascii") as lines:
        rows = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    return [(n, f, int(r), int(e), digest, path) for n, f, r, e, digest, path in rows]


# --- formats: each yields (rows, columns, [(row, column, value)]), from 0 ------

def number(text):
    return float(text.replace("D", "E").replace("d", "e"))


def matrix_market(text):
    lines = text.splitlines()
    kind, symmetry = lines[0].lower().split()[3:5]
    body = [line.split() for line in lines[1:] if line.strip() and not line.startswith("%")]
    for r, c, *value in body[1:]:
        r, c = int(r) - 1, int(c) - 1
        if kind == "pattern":
            v = 1.0
        elif kind == "complex":
            v = complex(number(value[0]), number(value[1]))
        else:
            v = number(value[0])
        yield r, c, v
        if r != c and symmetry != "general":
            yield c, r, -v if symmetry == "skew-symmetric" else v


def harwell_boeing(text):
    """I. S. Duff, R. G. Grimes, J. G. Lewis, "Users' guide for the Harwell-Boeing sparse matrix
    collection", 1992: fixed columns, described by FORTRAN formats."""
    lines = text.splitlines()
    kind = lines[2][:3].upper()
    columns, entries = (int(x) for x in lines[2].split()[2:4])
    formats = [lines[3][0:16], lines[3][16:32], lines[3][32:52]]
    rest = iter(lines[5 if len(lines[1]) > 56 and int(lines[1][56:70] or 0) > 0 else 4:])

    def take(count, shape):
        width = int(re.search(r"[IEDF](\d+)", shape.upper()).group(1))
        found = []
        while len(found) < count:
            line = next(rest)
            fields = (line[k:k + width] for k in range(0, len(line), width))
            found += [field for field in fields if field.strip()]
        return found[:count]

    starts = [int(x) - 1 for x in take(columns + 1, formats[0])]
    rows = [int(x) - 1 for x in take(entries, formats[1])]
    # P in a format like (1P,3E25.16) scales nothing that is written with an exponent.
    values = [number(x.strip()) for x in take(entries, formats[2])]
    for c in range(columns):
        for k in range(starts[c], starts[c + 1]):
            yield rows[k], c, values[k]
            if kind[1] == "S" and rows[k] != c:
                yield c, rows[k], values[k]


def counted(text):
    """`rows columns entries kind`, then `row column value` from 0 or from 1, then what we skip."""
    lines = [line.split() for line in text.splitlines() if line.strip()]
    entries = lines[1:1 + int(lines[0][2])]
    first = 0 if any("0" in entry[:2] for entry in entries) else 1
    for r, c, v in entries:
        yield int(r) - first, int(c) - first, number(v)


def lower_counted(text):
    for r, c, v in counted(text):
        yield r, c, v
        if r != c:
            yield c, r, v


def triplets(text):
    """`row column value`, or a complex value in two numbers; from 0."""
    for line in text.splitlines():
        r, c, *value = line.split()
        yield int(r), int(c), complex(*map(number, value)) if len(value) > 1 else number(value[0])


def half_of_triplets(text):
    """The same, where a symmetric or Hermitian matrix has only its lower or its upper half."""
    for r, c, v in triplets(text):
        yield r, c, v
        if r != c:
            yield c, r, v


def half_of_hermitian(text):
    for r, c, v in triplets(text):
        yield r, c, v
        if r != c:
            yield c, r, v.conjugate()


def by_columns(text):
    """A title; `size 0`; then starts of columns, rows and values, all from 0."""
    body = text.split("\n", 1)[1].split()
    size = int(body[0])
    starts = [int(x) for x in body[2:3 + size]]
    rows = body[3 + size:3 + size + starts[-1]]
    values = body[3 + size + starts[-1]:]
    for c in range(size):
        for k in range(starts[c], starts[c + 1]):
            yield int(rows[k]), c, number(values[k])


FORMATS = {
    "mm": matrix_market, "hb": harwell_boeing, "counted": counted, "lower": lower_counted,
    "triplets": triplets, "half": half_of_triplets, "hermitian": half_of_hermitian,
    "columns": by_columns,
}


def real_entries(found, rows):
    """Entries that stand twice add up; a complex matrix becomes [re -im; im re]."""
    total = {}
    for r, c, v in found:
        total[r, c] = total.get((r, c), 0) + v
    if not any(isinstance(v, complex) for v in total.values()):
        return total
    half = rows // 2
    parts = {}
    for (r, c), v in total.items():
        for place, x in (((r, c), v.real), ((r, c + half), -v.imag), ((r + half, c), v.imag),
                         ((r + half, c + half), v.real)):
            if x:
                parts[place] = x
    return parts


def convert(data, name, form, rows, entries, digest, target):
    if hashlib.sha256(data).hexdigest()[:len(digest)] != digest:
        raise Unavailable(f"{name} is not the file that matrices.txt names")
    total = real_entries(FORMATS[form](data.decode("latin-1")), rows)
    if len(total) != entries or max(max(place) for place in total) + 1 != rows:
        raise SystemExit(f"{name}: {len(total)} entries, where {entries} were expected")
    with open(target + ".part", "w", encoding="ascii") as out:
        out.write(f"%%MatrixMarket matrix coordinate real general\n{rows} {rows} {entries}\n")
        out.writelines(f"{r + 1} {c + 1} {v!r}\n" for (r, c), v in sorted(total.items()))
    os.rename(target + ".part", target)


# --- where they come from ----------------------------------------------------

def run(command, folder):
    try:
        return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True,
                              timeout=400).stdout
    except (OSError, subprocess.SubprocessError) as e:
        detail = getattr(e, "stderr", None) or str(e)
        raise Unavailable(f"{command[0]}: {str(detail).strip()[-300:]}") from e


def fetch_archives(folder):
    """The packages' archives in `folder`, by apt; its lists are made anew beside them."""
    for part in ("lists/partial", "cache/archives/partial"):
        os.makedirs(os.path.join(folder, part), exist_ok=True)
    lines = run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT) "
                 "$(ORIGIN) $(SIGNED_BY)", "Created-By: Packages"], folder).splitlines()
    sources = set()
    for line in lines:
        uri, release, component, origin, *signed = line.split() + [""]
        if origin == "Debian" and component == "main":
            option = f"[signed-by={signed[0]}] " if signed and signed[0].startswith("/") else ""
            sources.add(f"deb-src {option}{uri} {release} {component}")
    if not sources:
        raise Unavailable("apt has no Debian mirror")
    with open(os.path.join(folder, "sources.list"), "w", encoding="ascii") as out:
        out.write("\n".join(sorted(sources)) + "\n")
    apt = ["apt-get", "-q", "-o", f"Dir::Etc::sourcelist={folder}/sources.list",
           "-o", "Dir::Etc::sourceparts=-", "-o", f"Dir::State::lists={folder}/lists",
           "-o", f"Dir::Cache={folder}/cache", "-o", "APT::Sandbox::User=root"]
    run(apt + ["update"], folder)
    run(apt + ["source", "--download-only", "--tar-only", *PACKAGES], folder)
    return [os.path.join(folder, f) for f in sorted(os.listdir(folder)) if ".orig.tar." in f]


def fetch(folder, missing):
    archives = fetch_archives(folder)
    left = {path: rest for *rest, path in missing}
    for archive in archives:
        with tarfile.open(archive) as tar:
            for member in tar:
                path = member.name.split("/", 1)[-1]
                if path in left:
                    name, form, rows, entries, digest = left.pop(path)
                    convert(tar.extractfile(member).read(), name, form, rows, entries, digest,
                            os.path.join(folder, name + ".mtx"))
    for path in sorted(left):
        print(f"real_matrices: this Debian's packages have no {path}")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if not os.environ.get("BASAL_REAL_MATRICES"):
        print("real_matrices: skipped; BASAL_REAL_MATRICES=1 fetches 42 MB and runs it")
        sys.exit(77)
    folder = os.path.abspath(sys.argv[1])
    os.makedirs(folder, exist_ok=True)
    matrices = wanted()
    files = {m[0]: os.path.join(folder, m[0] + ".mtx") for m in matrices}
    # The list that was fetched: what it names and is not there, the packages do not have.
    fetched = os.path.join(folder, "fetched")
    try:
        if not os.path.exists(fetched) or open(fetched, encoding="ascii").read() != repr(matrices):
            fetch(folder, [m for m in matrices if not os.path.exists(files[m[0]])])
            with open(fetched, "w", encoding="ascii") as out:
                out.write(repr(matrices))
    except Unavailable as e:
        print(f"real_matrices: skipped, since there are no matrices: {e}")
        sys.exit(77)
    found = [f for f in files.values() if os.path.exists(f)]
    print(f"real_matrices: {len(found)} of {len(files)} matrices in {folder}", flush=True)
    if len(sys.argv) > 2:
        sys.exit(subprocess.run([*sys.argv[2:], *found], check=False).returncode)


if __name__ == "__main__":
    main()
