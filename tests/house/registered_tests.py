"""The tests that a build has."""
import json
import os
import subprocess
import tempfile


def registered_tests(build_dir):
    """As ctest's JSON describes them, with their names and properties. Asked from another folder:
    in the build's, ctest would write an empty log over that of the run in which this is."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "CTestTestfile.cmake"), "w", encoding="utf-8") as file:
            file.write(f'subdirs("{os.path.abspath(build_dir)}")\n')
        listed = subprocess.run(["ctest", "--show-only=json-v1"], cwd=folder, check=True,
                                capture_output=True, text=True).stdout
    return json.loads(listed)["tests"]
