#!/usr/bin/env python3
"""A batch over processes on loopback, whose parts are killed, frozen and lie.

usage: faults_test.py CLUSTER_PROCESS [unittest arguments]

Exit status 77, which ctest takes for skipped, where there is no nats-server. Each case has a server
with a store of its own. After each, every item has one result with the bits of this machine.
"""
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = ""
SERVER = shutil.which("nats-server", path=os.environ.get("PATH", "") + ":/usr/sbin")
WORK = 400_000  # steps of an item: half a millisecond or so
ITEMS = 1500


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class FaultsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="basal-faults-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.processes = []
        self.addCleanup(self.end)
        self.port = free_port()
        self.address = f"nats://127.0.0.1:{self.port}"
        self.journal = os.path.join(self.folder, "journal")
        self.tls = []

    def end(self):
        for p in self.processes:
            if p.poll() is None:
                p.kill()
            p.wait()
            for stream in (p.stdout, p.stderr):
                if stream:
                    stream.close()

    def start(self, command, **more):
        p = subprocess.Popen(command, text=True, **more)
        self.processes.append(p)
        return p

    def server(self, *arguments):
        p = self.start([SERVER, "-a", "127.0.0.1", "-p", str(self.port), "-js",
                        "-sd", os.path.join(self.folder, "store"), *arguments],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return p
            except OSError:
                time.sleep(0.05)
        self.fail("the server does not listen")

    def worker(self, name, **environment):
        w = self.start([PROGRAM, "worker", self.address, name, *self.tls],
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                       env={**os.environ, **environment})
        self.assertEqual(w.stdout.readline(), "ready\n")
        return w

    def coordinator(self, items=ITEMS, work=WORK, patience=60000, address=None, **more):
        return self.start([PROGRAM, "coordinator", address or self.address, self.journal,
                           str(items), str(work), str(patience), *self.tls],
                          stdout=subprocess.PIPE, **more)

    def until_delivered(self, coordinator, count=3):
        """Returns once results of the batch were delivered, and more are to come."""
        for _ in range(count):
            line = coordinator.stdout.readline()
            self.assertTrue(line.startswith("delivered"), line)

    def outcome(self, coordinator):
        said, _ = coordinator.communicate(timeout=150)
        result = {}
        for line in said.splitlines():
            name, _, value = line.partition(" ")
            result[name] = int(value) if value.isdigit() else value
        return result

    def expect_all(self, coordinator, items=ITEMS):
        found = self.outcome(coordinator)
        self.assertEqual(coordinator.returncode, 0, found)
        self.assertEqual((found["results"], found["wrong"], found["poisoned"]), (items, 0, 0),
                         found)
        return found

    def test_all_is_well(self):
        self.server()
        workers = [self.worker("a"), self.worker("b")]
        found = self.expect_all(self.coordinator())
        self.assertEqual((found["mismatches"], found["resumed"]), (0, 0))
        for w in workers:
            w.send_signal(signal.SIGTERM)
            said, _ = w.communicate(timeout=60)
            self.assertEqual(w.returncode, 0)
            self.assertGreater(int(said.split()[1]), 0, "a worker that did nothing")

    def test_worker_killed(self):
        self.server()
        victim = self.worker("a")
        self.worker("b")
        batch = self.coordinator()
        self.until_delivered(batch)
        victim.kill()
        self.assertEqual(self.expect_all(batch)["mismatches"], 0)

    def test_worker_frozen_beyond_its_lease(self):
        self.server()
        victim = self.worker("a")
        self.worker("b")
        batch = self.coordinator(items=3000)
        self.until_delivered(batch)
        victim.send_signal(signal.SIGSTOP)
        time.sleep(3)
        victim.send_signal(signal.SIGCONT)
        self.assertEqual(self.expect_all(batch, 3000)["mismatches"], 0)

    def test_server_killed_and_restarted(self):
        server = self.server()
        self.worker("a")
        self.worker("b")
        batch = self.coordinator()
        self.until_delivered(batch)
        server.kill()
        server.wait()
        time.sleep(1)
        self.server()
        self.assertEqual(self.expect_all(batch)["mismatches"], 0)

    def test_store_deleted(self):
        server = self.server()
        self.worker("a")
        self.worker("b")
        batch = self.coordinator()
        self.until_delivered(batch)
        server.kill()
        server.wait()
        shutil.rmtree(os.path.join(self.folder, "store"))
        self.server()
        self.worker("c")  # needs what the items share, which went with the store
        self.assertEqual(self.expect_all(batch)["mismatches"], 0)

    def test_coordinator_killed(self):
        self.server()
        self.worker("a")
        self.worker("b")
        first = self.coordinator()
        self.until_delivered(first)
        first.kill()
        first.wait()
        found = self.expect_all(self.coordinator())
        self.assertGreater(found["resumed"], 0)
        again = self.expect_all(self.coordinator())
        self.assertEqual(again["resumed"], ITEMS)

    def test_disk_full_in_a_running_batch(self):
        def small_disk():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write fails instead
            resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
        self.server()
        self.worker("a")
        self.worker("b")
        first = self.coordinator(preexec_fn=small_disk, restore_signals=False)
        self.until_delivered(first, 1)
        found = self.outcome(first)
        self.assertEqual((first.returncode, found["error"]), (1, "journal_failed"), found)
        found = self.expect_all(self.coordinator())
        self.assertGreater(found["resumed"], 0)
        self.assertEqual(found["mismatches"], 0)

    def test_a_worker_flips_a_bit(self):
        self.server()
        liar = self.worker("liar", CLUSTER_FLIP="1")
        batch = self.coordinator()
        self.until_delivered(batch, 1)  # of the liar's, since nobody else is there
        self.worker("a")
        self.worker("b")
        found = self.expect_all(batch)
        self.assertEqual(found["quarantined"], "liar")
        self.assertGreater(found["corrected"], 0)
        self.assertGreater(found["mismatches"], 0)
        said, _ = liar.communicate(timeout=60)
        self.assertIn("has other bits", said)

    def test_what_is_missing_is_named(self):
        def failure(**how):
            c = self.coordinator(**how)
            found = self.outcome(c)
            self.assertEqual(c.returncode, 1)
            return found["error"], found["said"]
        error, said = failure()
        self.assertEqual(error, "no_server", said)
        error, said = failure(address="nats://192.0.2.1:4222")
        self.assertEqual(error, "refused", said)
        self.assertIn("ca_file", said)
        self.assertEqual(failure(address="teapot")[0], "bad_option")
        self.server()
        error, said = failure(patience=100)
        self.assertEqual(error, "no_worker", said)
        self.assertIn("none answers", said)
        os.remove(self.journal)
        self.worker("a")
        self.expect_all(self.coordinator(items=20), 20)
        error, said = failure(items=21)
        self.assertEqual(error, "other_batch", said)

    def certificate(self, name, *extensions, authority=None):
        key, cert = (os.path.join(self.folder, name + end) for end in (".key", ".pem"))
        signed = ["-CA", authority + ".pem", "-CAkey", authority + ".key"] if authority else []
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                        "/CN=" + name, "-keyout", key, "-out", cert, *signed,
                        *[word for e in extensions for word in ("-addext", e)]],
                       check=True, capture_output=True)
        return cert, key

    @unittest.skipUnless(shutil.which("openssl"), "no openssl to make certificates with")
    def test_tls_with_certificates_on_both_sides(self):
        ca = os.path.join(self.folder, "ca")
        self.certificate("ca")
        cert, key = self.certificate("server", "subjectAltName=IP:127.0.0.1", authority=ca)
        client = self.certificate("client", authority=ca)
        self.certificate("other")
        self.server("--tls", "--tlscert", cert, "--tlskey", key, "--tlsverify", "--tlscacert",
                    ca + ".pem")
        plain = self.outcome(self.coordinator(items=1))
        self.assertEqual(plain["error"], "refused", plain)
        for authority, own in ((os.path.join(self.folder, "other.pem"), client),
                               (ca + ".pem", [os.path.join(self.folder, "other" + end)
                                              for end in (".pem", ".key")])):
            self.tls = [authority, *own]
            found = self.outcome(self.coordinator(items=1))
            self.assertIn(found["error"], ("refused", "no_server"), found)
        self.tls = [ca + ".pem", *client]
        self.worker("a")
        self.expect_all(self.coordinator(items=50), 50)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = sys.argv.pop(1)
    if SERVER is None:
        print("skipped: there is no nats-server (Debian: apt install nats-server)")
        sys.exit(77)
    unittest.main(verbosity=2)
