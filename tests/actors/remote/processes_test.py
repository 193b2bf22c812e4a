#!/usr/bin/env python3
"""Actors of two processes: plain on loopback, with TLS, and with what TLS is there to refuse.

usage: processes_test.py REMOTE_PROCESS FOLDER_OF_CERTIFICATES_PY [unittest arguments]
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
certificates = None


class ProcessesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="basal-remote-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        certificates.make(cls.folder, "ca")
        certificates.make(cls.folder, "other-ca")
        for name, authority in (("server", "ca"), ("client", "ca"), ("stranger", "other-ca")):
            certificates.make(cls.folder, name, certificates.LOOPBACK, authority=authority)

    def setUp(self):
        self.processes = []
        self.addCleanup(self.end)

    def end(self):
        for p in self.processes:
            if p.poll() is None:
                p.kill()
            p.communicate()

    def path(self, name):
        return os.path.join(self.folder, name)

    def tls(self, name, authority="ca"):
        return [f"--openssl.certificate={self.path(name + '.pem')}",
                f"--openssl.key={self.path(name + '.key')}",
                f"--openssl.cafile={self.path(authority + '.pem')}"]

    def start(self, *arguments):
        p = subprocess.Popen([PROGRAM, *arguments], text=True, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.processes.append(p)
        return p

    def serve(self, *options, host="127.0.0.1"):
        server = self.start("serve", host, *options)
        port = server.stdout.readline().strip()
        self.assertTrue(port.isdigit(), port)
        return server, port

    def said(self, process):
        out, _ = process.communicate(timeout=60)
        return dict(line.split(" ", 1) for line in out.splitlines() if " " in line)

    def ask(self, port, *options, host="127.0.0.1"):
        return self.start("ask", host, port, *options)

    def refused(self, port, *options):
        found = self.said(self.ask(port, *options))
        self.assertEqual(found.get("error"), "peer_refused", found)
        self.assertIn("certificates of the same authority", found["said"])

    def answers_until_killed(self, *pair, host="127.0.0.1"):
        server, port = self.serve(*(pair[0] if pair else []), host=host)
        client = self.ask(port, *(pair[1] if pair else []))
        self.assertEqual(client.stdout.readline(), "answer 42\n")
        server.send_signal(signal.SIGKILL)
        self.assertEqual(client.stdout.readline(), "down\n")
        client.communicate(timeout=60)
        self.assertEqual(client.returncode, 0)

    def test_two_processes_and_the_end_of_one(self):
        self.answers_until_killed()

    def test_tls_with_certificates_on_both_sides(self):
        self.answers_until_killed(self.tls("server"), self.tls("client"))

    def test_with_tls_every_address_will_do(self):
        self.answers_until_killed(self.tls("server"), self.tls("client"), host="0.0.0.0")

    def test_a_server_ends_when_it_is_told_to(self):
        server, port = self.serve(*self.tls("server"))
        client = self.ask(port, *self.tls("client"))
        self.assertEqual(client.stdout.readline(), "answer 42\n")
        server.communicate(timeout=60)
        self.assertEqual(server.returncode, 0)
        self.assertEqual(client.communicate(timeout=60)[0], "down\n")

    def test_strangers_are_refused(self):
        _, port = self.serve(*self.tls("server"))
        self.refused(port)  # no certificate
        self.refused(port, *self.tls("stranger", "other-ca"))  # each knows another authority
        self.refused(port, *self.tls("stranger"))  # the server does not know the client's
        self.refused(port, *self.tls("client", "other-ca"))  # the client does not know the server's
        client = self.ask(port, *self.tls("client"))
        self.assertEqual(client.stdout.readline(), "answer 42\n")

    def test_a_client_with_tls_refuses_a_server_without(self):
        _, port = self.serve()
        found = self.said(self.ask(port, *self.tls("client")))
        self.assertIn(found.get("error"), ("peer_refused", "unreachable"), found)

    def test_nothing_is_in_the_clear(self):
        _, port = self.serve(*self.tls("server"))
        told = subprocess.run(
            ["openssl", "s_client", "-connect", "127.0.0.1:" + port, "-CAfile", self.path("ca.pem"),
             "-cert", self.path("client.pem"), "-key", self.path("client.key"), "-brief",
             "-verify_return_error"],
            input="", capture_output=True, text=True, errors="replace", timeout=60, check=False)
        self.assertIn("TLSv1.3", told.stdout + told.stderr)

    def test_other_addresses_need_tls(self):
        for process in (self.start("serve", "0.0.0.0"), self.ask("1", host="192.0.2.1")):
            found = self.said(process)
            self.assertEqual(found.get("error"), "needs_tls", found)
            self.assertIn("openssl.cafile", found["said"])

    def test_certificates_that_will_not_do_are_named_at_the_start(self):
        def sentence(options, words):
            p = self.start("serve", "127.0.0.1", *options)
            found = self.said(p)
            self.assertEqual(p.returncode, 3, found)
            self.assertIn(words, found["refused"])
        good = self.tls("server")
        sentence(good[:2], "all three")
        sentence(good[1:], "all three")
        sentence(["--openssl.passphrase=x"], "all three")
        sentence([good[0].replace("server", "nobody"), *good[1:]], "nobody.pem")
        sentence([good[0], self.tls("client")[1], good[2]], "mismatch")
        sentence([*good[:2], good[2] + ".gone"], "ca.pem.gone")
        sentence([*good, "--openssl.capath=" + self.path("nowhere")], "nowhere")
        sentence([*good, "--openssl.capath=" + self.path("ca.pem")], "is no folder")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    PROGRAM = sys.argv.pop(1)
    sys.path.insert(0, sys.argv.pop(1))
    import certificates
    if shutil.which("openssl") is None:
        print("skipped: there is no openssl to make certificates (Debian: apt install openssl)")
        sys.exit(77)
    unittest.main(verbosity=2)
