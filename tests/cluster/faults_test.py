#!/usr/bin/env python3
"""A batch over processes on loopback, whose parts are killed, frozen and lie.

usage: faults_test.py CLUSTER_PROCESS FOLDER_OF_CERTIFICATES_PY [unittest arguments]

Exit status 77, which ctest takes for skipped, where there is no nats-server. Each case has a server
with a store of its own. After each, every item has one result with the bits of this machine.
"""
import os
import resource
import shutil
import signal
import socket
import subprocess
import time
import unittest

import fixture
from fixture import ITEMS


class FaultsTest(fixture.ClusterTest):
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
        error, said = failure(address="nats://127.0.0.1:teapot")
        self.assertEqual(error, "bad_option", said)
        self.assertIn("nats://HOST:PORT", said)
        self.tls = ["/nowhere/ca.pem", "/nowhere/us.pem", "/nowhere/us.key"]
        error, said = failure()
        self.assertEqual(error, "refused", said)
        self.assertIn("/nowhere/ca.pem cannot be used for TLS", said)
        self.tls = []
        self.server()
        error, said = failure(patience=100)
        self.assertEqual(error, "no_worker", said)
        self.assertIn("none answers", said)
        os.remove(self.journal)
        self.worker("a")
        self.expect_all(self.coordinator(items=20), 20)
        error, said = failure(items=21)
        self.assertEqual(error, "other_batch", said)

    def test_a_server_without_jetstream_or_with_other_users(self):
        configuration = os.path.join(self.folder, "server.conf")
        for settings, error, remedy in (("", "no_server", "nats-server with -js"),
                                        ("authorization { user: a, password: b }", "refused",
                                         "configuration says who may connect")):
            with open(configuration, "w", encoding="ascii") as file:
                file.write(f'listen: "127.0.0.1:{self.port}"\n{settings}\n')
            server = self.start([fixture.SERVER, "-c", configuration], stderr=subprocess.DEVNULL)
            self.until(self.listens, "the server does not listen")
            found = self.outcome(self.coordinator(1))
            self.assertEqual(found["error"], error, found)
            self.assertIn(remedy, found["said"])
            server.kill()
            server.wait()

    def listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True

    @unittest.skipUnless(shutil.which("openssl"), "no openssl to make certificates with")
    def test_tls_with_certificates_on_both_sides(self):
        import certificates
        ca, _ = certificates.make(self.folder, "ca")
        cert, key = certificates.make(self.folder, "server", certificates.LOOPBACK, authority="ca")
        client = certificates.make(self.folder, "client", authority="ca")
        other = certificates.make(self.folder, "other")
        self.server("--tls", "--tlscert", cert, "--tlskey", key, "--tlsverify", "--tlscacert", ca)
        plain = self.outcome(self.coordinator(items=1))
        self.assertEqual(plain["error"], "refused", plain)
        for authority, own in ((other[0], client), (ca, other)):
            self.tls = [authority, *own]
            found = self.outcome(self.coordinator(items=1))
            self.assertIn(found["error"], ("refused", "no_server"), found)
        self.tls = [ca, *client]
        self.worker("a")
        self.expect_all(self.coordinator(items=50), 50)


if __name__ == "__main__":
    fixture.main(__doc__)
