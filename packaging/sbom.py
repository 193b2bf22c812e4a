#!/usr/bin/env python3
"""Prints what an installed basal links, as an SPDX 2.3 document in JSON.

usage: sbom.py PREFIX

The link graph is that of the installed .pc files: each module, the modules that it asks for, and
the Debian package and version behind each library that it names. Libraries of which only headers
are compiled in are not named by a .pc file, and not here.
"""
import datetime
import glob
import json
import os
import re
import subprocess
import sys


def said(*command):
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def fields_of(path):
    """The fields of a .pc file, its variables put in."""
    variables, fields = {"pcfiledir": os.path.dirname(path)}, {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = re.sub(r"\$\{(\w+)\}", lambda m: variables.get(m.group(1), ""), line.strip())
            if match := re.match(r"(\w+)=(.*)", line):
                variables[match.group(1)] = match.group(2)
            elif match := re.match(r"([\w.]+):\s*(.*)", line):
                fields[match.group(1)] = match.group(2)
    return fields


def debian_package(library):
    """(package, version) behind -lLIBRARY, or None if it is not Debian's."""
    for name in (f"lib{library}.so", f"lib{library}.a"):
        path = said("gcc", f"-print-file-name={name}")
        if not os.path.isabs(path):
            continue
        real = os.path.realpath(path)
        for candidate in (real, real.removeprefix("/usr"), os.path.abspath(path)):
            owner = said("dpkg", "-S", candidate).split(":")[0]
            if owner:
                return owner, said("dpkg-query", "-W", "-f=${Version}\n", owner).split("\n")[0]
    return None


def libraries_of(fields):
    """The names after -l of a .pc file and of what it requires outside of basal."""
    flags = fields.get("Libs", "").split()
    for required in re.split(r"[,\s]+", fields.get("Requires", "")):
        if required and not required.startswith("basal"):
            flags += said("pkg-config", "--libs", required).split()
    return [flag[2:] for flag in flags if flag.startswith("-l") and not flag.startswith("-lbasal")]


def identifier(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def package(name, version, licence, supplier):
    return {"SPDXID": identifier(name), "name": name, "versionInfo": version,
            "downloadLocation": "NOASSERTION", "licenseConcluded": licence,
            "licenseDeclared": licence, "copyrightText": "NOASSERTION", "supplier": supplier,
            "filesAnalyzed": False}


def document(prefix):
    packages, relationships = {}, []

    def relate(one, how, other):
        made = {"spdxElementId": one, "relationshipType": how, "relatedSpdxElement": other}
        if made not in relationships:
            relationships.append(made)

    files = sorted(glob.glob(os.path.join(prefix, "**", "basal*.pc"), recursive=True))
    if not files:
        sys.exit(f"sbom.py: no basal*.pc in {prefix}; install basal there")
    for path in files:
        fields = fields_of(path)
        name = fields["Name"]
        packages[name] = package(name, fields["Version"], "BSD-3-Clause",
                                 "Organization: the basal authors")
        relate("SPDXRef-DOCUMENT", "DESCRIBES", identifier(name))
        for required in re.split(r"[,\s]+", fields.get("Requires", "")):
            if required.startswith("basal"):
                relate(identifier(name), "DEPENDS_ON", identifier(required))
        for library in libraries_of(fields):
            found = debian_package(library)
            if not found:
                sys.exit(f"sbom.py: {name} links {library}, which no Debian package has")
            owner, version = found
            packages[owner] = package(owner, version, "NOASSERTION", "Organization: Debian")
            relate(identifier(name), "DEPENDS_ON", identifier(owner))
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH",
                                 datetime.datetime.now().timestamp()))
    when = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    version = packages["basal"]["versionInfo"]
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"basal-{version}",
            "documentNamespace": f"urn:basal:sbom:{version}:{seconds}",
            "creationInfo": {"created": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
                             "creators": ["Tool: packaging/sbom.py"]},
            "packages": list(packages.values()), "relationships": relationships}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(json.dumps(document(sys.argv[1]), indent=2))
