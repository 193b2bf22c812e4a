#!/usr/bin/env python3
"""usage: sbom_test.py SBOM_PY PREFIX

The bill of materials of an installed basal: whole, closed, and the same twice.
"""
import glob
import json
import os
import subprocess
import sys

program, prefix = sys.argv[1:]


def made():
    return subprocess.run([sys.executable, "-B", program, prefix], check=True, capture_output=True,
                          text=True, env={**os.environ, "SOURCE_DATE_EPOCH": "86400"}).stdout


text = made()
assert text == made(), "two runs differ"
document = json.loads(text)
assert document["spdxVersion"] == "SPDX-2.3"
assert document["creationInfo"]["created"] == "1970-01-02T00:00:00Z"
identifiers = [p["SPDXID"] for p in document["packages"]]
assert len(identifiers) == len(set(identifiers)), "a package is named twice"
for package in document["packages"]:
    for field in ("name", "versionInfo", "downloadLocation", "licenseDeclared", "supplier"):
        assert package[field], f"{package['name']} has no {field}"
for relationship in document["relationships"]:
    ends = {relationship["spdxElementId"], relationship["relatedSpdxElement"]}
    assert ends <= set(identifiers) | {"SPDXRef-DOCUMENT"}, f"{ends} lead nowhere"
names = {p["name"] for p in document["packages"]}
modules = {os.path.basename(path)[:-len(".pc")]
           for path in glob.glob(f"{prefix}/**/basal*.pc", recursive=True)}
assert modules <= names, f"missing: {modules - names}"
assert any(name.startswith("libboost-context") for name in names), names
empty = subprocess.run([sys.executable, "-B", program, os.path.dirname(program)],
                       capture_output=True, text=True, check=False)
assert empty.returncode == 1 and "no basal*.pc" in empty.stderr, empty
