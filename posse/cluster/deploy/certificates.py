#!/usr/bin/env python3
"""Certificates to try programs with: an authority, and what it signs.

usage: certificates.py FOLDER [NAME...]

Makes ca.pem and ca.key in FOLDER, unless they are there, and for each NAME (server and client,
unless others are given) NAME.pem and NAME.key, for 127.0.0.1 and localhost, valid for 30 days. Keys
are not encrypted.
"""
import os
import subprocess
import sys

DAYS = "30"
LOOPBACK = "subjectAltName=IP:127.0.0.1,DNS:localhost"
# openssl makes an authority by default, but one that does not say what its key is for: strict
# readers, such as Python since 3.13, refuse that.
SIGNS = ["keyUsage=critical,keyCertSign,cRLSign"]
SIGNS_NOTHING = ["basicConstraints=critical,CA:FALSE", "keyUsage=critical,digitalSignature"]


class Failed(Exception):
    pass


def openssl(failure, *words):
    """Runs openssl. Raises Failed with `failure` and openssl's last line."""
    try:
        ran = subprocess.run(["openssl", *words], check=False, capture_output=True, text=True)
    except OSError as problem:
        raise Failed(f"{failure}: openssl does not run ({problem.strerror}); Debian: "
                     "apt install openssl") from problem
    if ran.returncode != 0:
        said = ran.stderr.strip().splitlines() or [f"openssl's exit status is {ran.returncode}"]
        raise Failed(f"{failure}: {said[-1]}")


def make(folder, name, *extensions, authority=None):
    """NAME.pem and NAME.key in the folder: signed by the authority of that name in the same folder,
    and then no authority itself, or, without one, by itself. Returns both paths. Raises Failed."""
    def path(of, end):
        return os.path.join(folder, of + end)
    signed = []
    if authority is not None:
        signed = ["-CA", path(authority, ".pem"), "-CAkey", path(authority, ".key")]
    extensions = [*(SIGNS if authority is None else SIGNS_NOTHING), *extensions]
    openssl(f"no certificate '{name}'",
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-days", DAYS, "-subj", "/CN=basal " + name, "-keyout", path(name, ".key"),
            "-out", path(name, ".pem"), *signed, *[w for e in extensions for w in ("-addext", e)])
    return path(name, ".pem"), path(name, ".key")


def keep_or_make_authority(folder):
    """An authority that is there stays: what it signed goes on being good. Raises Failed."""
    files = [os.path.join(folder, name) for name in ("ca.pem", "ca.key")]
    there = [os.path.exists(f) for f in files]
    if not any(there):
        make(folder, "ca")
        return
    if not all(there):
        raise Failed(f"there is one of {files[0]} and {files[1]} without the other: remove it")
    openssl(f"{files[0]} cannot be used, or is out of date: remove it and {files[1]}",
            "x509", "-in", files[0], "-noout", "-checkend", "0")


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    folder, names = sys.argv[1], sys.argv[2:] or ["server", "client"]
    os.umask(0o077)  # keys are nobody else's
    try:
        if "ca" in names:
            raise Failed("'ca' is the authority's own name: take another one")
        os.makedirs(folder, exist_ok=True)
        keep_or_make_authority(folder)
        for name in names:
            make(folder, name, LOOPBACK, authority="ca")
    except OSError as problem:
        sys.exit(f"certificates: no folder '{folder}': {problem.strerror}")
    except Failed as problem:
        sys.exit(f"certificates: {problem}")


if __name__ == "__main__":
    main()
