#!/usr/bin/env python3
"""Certificates to try programs with: who may sign, what stays, and what is said about failures.

usage: certificates_test.py CERTIFICATES_PY [unittest arguments]
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
certificates = None


class CertificatesTest(unittest.TestCase):
    def setUp(self):
        self.above = tempfile.mkdtemp(prefix="basal-certificates-")
        self.addCleanup(shutil.rmtree, self.above, ignore_errors=True)
        self.folder = os.path.join(self.above, "certs")

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_program(self, *arguments, search=None):
        environment = dict(os.environ) if search is None else {**os.environ, "PATH": search}
        return subprocess.run([sys.executable, "-B", PROGRAM, *arguments], capture_output=True,
                              text=True, timeout=60, check=False, env=environment)

    def made(self, *names):
        ran = self.run_program(self.folder, *names)
        self.assertEqual(ran.returncode, 0, ran.stderr)

    def complains(self, words, *arguments, search=None):
        ran = self.run_program(*arguments, search=search)
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertRegex(ran.stderr, r"\Acertificates: .*\n\Z")  # one line
        self.assertIn(words, ran.stderr)

    def verifies(self, name, *more):
        return subprocess.run(["openssl", "verify", "-CAfile", self.path("ca.pem"), *more,
                               self.path(name + ".pem")],
                              capture_output=True, timeout=60, check=False).returncode == 0

    def test_what_the_authority_signed_signs_nothing(self):
        self.made()
        self.assertTrue(self.verifies("server"))
        self.assertTrue(self.verifies("client"))
        certificates.make(self.folder, "rogue", authority="server")
        self.assertFalse(self.verifies("rogue", "-untrusted", self.path("server.pem")))
        text = subprocess.run(["openssl", "x509", "-in", self.path("server.pem"), "-noout",
                               "-text"], capture_output=True, text=True, timeout=60, check=True)
        self.assertEqual(text.stdout.count("Basic Constraints"), 1, text.stdout)
        self.assertIn("IP Address:127.0.0.1", text.stdout)

    def test_strict_readers_accept_them(self):
        self.made()
        self.assertTrue(self.verifies("server", "-x509_strict"))
        self.assertTrue(self.verifies("client", "-x509_strict"))

    def test_the_authority_stays(self):
        self.made("first")
        self.made("second")
        self.assertTrue(self.verifies("first"))
        self.assertTrue(self.verifies("second"))

    def test_half_an_authority_or_a_broken_one_is_not_replaced(self):
        self.made()
        with open(self.path("ca.pem"), "w", encoding="ascii") as f:
            f.write("nothing\n")
        self.complains("out of date", self.folder)
        os.remove(self.path("ca.pem"))
        self.complains("without the other", self.folder)

    def test_no_certificate_takes_the_authoritys_place(self):
        self.made()
        self.complains("own name", self.folder, "ca")
        self.assertTrue(self.verifies("server"))

    def test_keys_are_nobody_elses(self):
        self.made()
        self.assertEqual(os.stat(self.path("server.key")).st_mode & 0o077, 0)

    def test_a_folder_that_is_a_file(self):
        with open(self.folder, "w", encoding="ascii"):
            pass
        self.complains("no folder", self.folder)
        self.complains("no folder", self.path("below"))

    def test_no_openssl_or_one_that_says_nothing(self):
        self.complains("apt install openssl", self.folder, search=self.above)
        silent = os.path.join(self.above, "openssl")
        with open(silent, "w", encoding="ascii") as f:
            f.write("#!/bin/sh\nexit 3\n")
        os.chmod(silent, 0o755)
        self.complains("exit status is 3", self.folder, search=self.above)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = sys.argv.pop(1)
    sys.path.insert(0, os.path.dirname(PROGRAM))
    import certificates
    if shutil.which("openssl") is None:
        print("skipped: there is no openssl to make certificates (Debian: apt install openssl)")
        sys.exit(77)
    unittest.main(verbosity=2)
